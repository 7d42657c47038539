"""`oclgrind … python -m tests.engine.oclgrind.faulty FAULT`: a wrong kernel, to see that Oclgrind says so."""

import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from edged.engine.device import find_device
from edged.engine.launch import Launch
from edged.engine.variants.elementwise import ACTIVATE
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.activations import RELU
from edged.model.graph import Activate
from tests.engine.lab import random
from tests.engine.oclgrind.watched import WatchedLab, use_buffers_of_their_own


def beyond(launch: Launch) -> Launch:
    """One row more than the tensors have."""
    rows = launch.defines["OUT_HEIGHT"] + 1
    return replace(launch, defines={**launch.defines, "OUT_HEIGHT": rows}, items=launch.items // (rows - 1) * rows)


def race(launch: Launch) -> Launch:
    """All rows of the output in one place."""
    return replace(launch, defines={**launch.defines, "OUT_PITCH": 0})


def unwritten(launch: Launch) -> Launch:
    """A tensor is read that nobody wrote."""
    source, target = launch.tensors
    return replace(launch, arguments=(replace(source, name="scratch"), target))


FAULTS = {"beyond": beyond, "race": race, "unwritten": unwritten}


def main(name: str) -> None:
    """Run ReLU with the fault `name`."""

    def launches(site: Site[Activate], parameters: Parameters) -> tuple[Launch, ...]:
        return tuple(map(FAULTS[name], ACTIVATE.launches(site, parameters)))

    use_buffers_of_their_own()
    with TemporaryDirectory() as programs, suppress(AssertionError):
        lab = WatchedLab(find_device("oclgrind"), Path(programs))
        lab.compute(Variant("relu", launches), Activate("relu", ("x",), "y", RELU), [random(1, 4, 3, 5)])


if __name__ == "__main__":
    main(sys.argv[1])
