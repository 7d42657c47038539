"""Measure for `edged bench`: time and joules of several plans in turn, error against fp32, accuracy."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.cli.options import above_zero, add_sysfs
from edged.cli.pictures import MOST, chosen_of, pictures_of
from edged.energy.find import Rails, find_rails
from edged.energy.meter import Meter, watts_over
from edged.engine.one_launch import COMPARED
from edged.messages import EnergyMethod
from edged.model import reference
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.system.machine_state import UNWATCHED, Machine

if TYPE_CHECKING:
    from edged.engine.layer_outputs import LayerOutputs


Tensors = Mapping[str, NDArray[np.float32]]


@dataclass
class LayerError:
    """The error of one layer over all images.

    `largest`: its largest absolute value in fp32. `difference`: the largest one from fp32, errors of earlier
    layers included; inf: there were values that this precision cannot represent.
    """

    layer: str
    largest: float = 0.0
    difference: float = 0.0

    @property
    def share(self) -> float:
        """Return the error as a share of the layer's range."""
        return self.difference / self.largest if self.largest else self.difference

    def meet(self, found: NDArray[np.float32], expected: NDArray[np.float32]) -> None:
        """Include the values of another image in the error."""
        difference = np.abs(found.reshape(-1) - expected.reshape(-1)).max()
        self.largest = max(self.largest, float(np.abs(expected).max()))
        self.difference = max(self.difference, float(difference) if np.isfinite(difference) else np.inf)


@dataclass(frozen=True)
class Errors:
    """Errors of all layers in the network's order. `agree`: number of images whose first class is that of fp32.

    `pictures`: the folder that the images came from, None for random images.
    """

    layers: tuple[LayerError, ...]
    agree: int
    images: int
    pictures: str | None

    def as_object(self) -> dict[str, Any]:
        """Return the errors for JSON, which has no infinity: null for values that could not be represented."""
        layers = [
            {**asdict(layer), "difference": _number(layer.difference), "share": _number(layer.share)}
            for layer in self.layers
        ]
        return {**asdict(self), "layers": layers}

    def as_table(self) -> str:
        """Format one line for each layer, and what the errors mean for the answers."""
        source = f"pictures of {self.pictures}" if self.pictures else "random images, which say little"
        width = max(len(layer.layer) for layer in self.layers)
        lines = [
            f"error against fp32 (NumPy), with that of the layers before, on {self.images} {source}",
            f"{'layer':{width}}{'range':>12}{'error ÷ range':>16}",
            *(f"{layer.layer:{width}}{layer.largest:12.4g}{_text(layer.share):>16}" for layer in self.layers),
            f"the first class is that of fp32 for {self.agree} of {self.images}",
        ]
        return "\n".join(lines if self.pictures else [*lines, "give --images FOLDER for figures of your own"])


def errors_of(
    model: Model, outputs: "LayerOutputs", images: NDArray[np.uint8], pictures: str | None = None
) -> Errors:
    """Compare every layer on every image, uint8 RGB [n, height, width, 3]. Raises DeviceError."""
    errors: dict[str, LayerError] = {}
    agree = 0
    for image in images:
        found = outputs.compute(image[np.newaxis])
        expected = reference.run_all(model.graph, reference.prepare(image[np.newaxis], model.input))
        for operator in model.graph.operators:
            if operator.output in found:
                error = errors.setdefault(operator.output, LayerError(operator.name))
                error.meet(found[operator.output], expected[operator.output])
        agree += _same_class(found[outputs.output], expected[outputs.output])
    return Errors(tuple(errors.values()), agree, len(images), pictures)


def _same_class(found: NDArray[np.float32], expected: NDArray[np.float32]) -> bool:
    return bool(np.isfinite(found).all() and found.argmax() == expected.argmax())


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _text(share: float) -> str:
    return f"{share:.1e}" if np.isfinite(share) else "not finite"


TURN = 10  # runs of one plan before the next one's turn
TURN_S = 2.0  # a slower plan gets fewer: the state of the machine is looked at before and after a round of turns
WARM_UP_RUNS = 2  # at each turn, since another plan has filled the caches
ENOUGH_S = 20.0  # a slower plan gets fewer runs, but at least FEWEST
FEWEST = 3
SETTLING_RUNS = 4 * COMPARED  # enough for the runtime to choose between its forms of launching
SETTLING_S = 5.0  # a slower plan gets fewer of them


@dataclass
class Timing:
    """Wall seconds of each run: of the whole job, and of the time in which the host enqueues the kernels.

    `states`: those of the machine, by run.
    """

    seconds: list[float] = field(default_factory=list)
    host_seconds: list[float] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def is_enough(self, runs: int) -> bool:
        """Return whether there are so many `runs`, or as many as a slow plan gets."""
        done = len(self.seconds)
        return done >= runs or (done >= FEWEST and sum(self.seconds) >= ENOUGH_S)

    def label(self, state: str) -> None:
        """Note the state of the runs since the last call."""
        self.states += [state] * (len(self.seconds) - len(self.states))

    def those(self, counts: Callable[[str], bool]) -> "Timing":
        """Return the runs in states that count."""
        places = [place for place, state in enumerate(self.states) if counts(state)]
        return Timing(
            [self.seconds[place] for place in places],
            [self.host_seconds[place] for place in places],
            [self.states[place] for place in places],
        )


def time_in_turn(
    runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], runs: int, machine: Machine = UNWATCHED
) -> list[Timing]:
    """Time plans in turn, so that other load on the machine affects all of them alike."""
    timings = [Timing() for _ in runtimes]

    def take_turns() -> None:
        for runtime, timing in zip(runtimes, timings, strict=True):
            _take_turn(runtime, images, runs, timing)

    while not all(timing.is_enough(runs) for timing in timings):
        _, turn = machine.during(take_turns)
        for timing in timings:
            timing.label(turn.state)
    return timings


def _take_turn(runtime: ModelRuntime, images: NDArray[np.uint8], runs: int, timing: Timing) -> None:
    for _ in range(WARM_UP_RUNS):
        _run(runtime, images, Timing())
    before, start = len(timing.seconds), time.perf_counter()
    while len(timing.seconds) < before + TURN and not timing.is_enough(runs):
        _run(runtime, images, timing)
        if time.perf_counter() - start > TURN_S:
            return


def settle(runtime: ModelRuntime, images: NDArray[np.uint8]) -> None:
    """Run jobs until the runtime knows which form of launching is faster; fewer of a slow network."""
    settling = Timing()
    while len(settling.seconds) < SETTLING_RUNS and sum(settling.seconds) < SETTLING_S:
        _run(runtime, images, settling)


def _run(runtime: ModelRuntime, images: NDArray[np.uint8], timing: Timing) -> None:
    start = time.perf_counter()
    pending = runtime.submit(images)
    enqueued = time.perf_counter()
    pending.wait()
    timing.seconds.append(time.perf_counter() - start)
    timing.host_seconds.append(enqueued - start)


SCENE = (320, 240)

Images = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Known:
    """Pictures with known labels. `images`: uint8 RGB [n, height, width, 3]; `source`: where they are from."""

    images: Images
    truths: Sequence[str]
    source: str


@dataclass(frozen=True)
class Accuracy:
    """How many pictures were classified correctly."""

    right: int
    frames: int
    source: str


def known_pictures(model: Model, folder: Path | None) -> Known | None:
    """Find pictures with known labels: those in sub-folders of `folder` that are named like labels.

    Without a folder: digits of the synthetic camera. Returns None if no label is known, or the model reads no
    digits or is not trained. Raises ConfigError for a folder without pictures, ImageError.
    """
    if model.random_weights:
        return None
    return _in_folder(model, folder) if folder else _digits(model)


def accuracy_of(runtime: ModelRuntime, known: Known, model: Model, batch: int) -> Accuracy:
    """Classify every picture, and count the correct ones. Raises DeviceError."""
    parts = [known.images[start : start + batch] for start in range(0, len(known.images), batch)]
    best = np.concatenate([runtime.submit(part).wait().outputs.argmax(axis=1) for part in parts])
    right = sum(model.labels[index] == truth for index, truth in zip(best, known.truths, strict=True))
    return Accuracy(right, len(known.truths), known.source)


def _in_folder(model: Model, folder: Path) -> Known | None:
    from edged.pictures.folders import truth_of

    truths = [truth_of(file, folder) for file in chosen_of(folder)]
    labelled = [place for place, truth in enumerate(truths) if truth in model.labels]
    if not labelled:
        return None
    images = pictures_of(folder, model.input)[labelled]
    return Known(images, [truths[place] or "" for place in labelled], f"pictures of {folder}")


def _digits(model: Model) -> Known | None:
    from edged.camera.sources.synthetic import draw_pictures
    from edged.pictures.prepare import prepare

    pictures = list(islice(draw_pictures(0, *SCENE, fps=1), MOST))  # each from another scene
    truths = [picture.truth or "" for picture in pictures]
    if not set(truths) <= set(model.labels):
        return None
    images = np.stack([prepare(picture.pixels, model.input) for picture in pictures])
    return Known(images, truths, "synthetic digits")


IDLE_S = 2.0
TURNS = 3
METERED_S = 1.0  # of one plan in a turn
SAMPLE_HZ = 100  # of power rails: a turn is short, and nothing else uses the processor


@dataclass
class Consumption:
    """Energy of one plan that runs without pause. `joules` is None if a rail could not be read all the time."""

    joules: float | None
    seconds: float = 0.0
    frames: int = 0

    @property
    def watts(self) -> float | None:
        return None if self.joules is None else self.joules / self.seconds

    @property
    def joules_each(self) -> float | None:
        """Return joules per frame."""
        return None if self.joules is None else self.joules / self.frames


@dataclass(frozen=True)
class Energy:
    """Energy of each plan on all `rails` together, which draw `idle_watts` while nothing runs.

    `note`: why it is unknown.
    """

    method: EnergyMethod
    rails: tuple[str, ...]
    note: str
    idle_watts: float | None
    plans: list[Consumption] = field(default_factory=list)


def add_energy_options(parser: argparse.ArgumentParser) -> None:
    """Add --energy, --rails, --watts-per-core and --sysfs."""
    energy = "also measure the energy of a frame, and the accuracy on pictures of known labels"
    parser.add_argument("--energy", action="store_true", help=energy)
    rails = "power rails of the device, as `edged devices` names them (default: all that do not overlap)"
    parser.add_argument("--rails", metavar="NAME,…", help=rails)
    watts = "estimate the energy if no rail is readable: processor time × W"
    parser.add_argument("--watts-per-core", type=above_zero("watts"), metavar="W", help=watts)
    add_sysfs(parser)


def energy_of(
    runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], arguments: argparse.Namespace
) -> Energy:
    """Measure the energy of plans in turn, so that other load affects all alike. Raises DeviceError."""
    rails = _rails(arguments)
    watts_per_core = arguments.watts_per_core if rails.method == "estimated" else None
    meter = Meter(rails.rails, watts_per_core=watts_per_core, sample_hz=rails.energy.sample_hz)
    try:
        idle = watts_over(meter, IDLE_S) if meter.rails else {}
        idle_watts = sum(idle.values()) if idle else None
        plans = [Consumption(0.0 if meter.rails else None) for _ in runtimes]
        for _ in range(TURNS if meter.rails else 0):
            for runtime, plan in zip(runtimes, plans, strict=True):
                _run_metered(runtime, images, plan, meter)
    finally:
        meter.close()
    return Energy(rails.method, meter.attributed_rails, rails.note, idle_watts, plans)


def is_energy_known(arguments: argparse.Namespace) -> bool:
    """Return whether there is a rail, or what is needed for an estimate."""
    return _rails(arguments).method != "none"


def _rails(arguments: argparse.Namespace) -> Rails:
    names = tuple(arguments.rails.split(",")) if arguments.rails else "auto"
    watts = arguments.watts_per_core
    return find_rails(
        config.EnergyConfig(rails=names, watts_per_core=watts, sysfs=arguments.sysfs, sample_hz=SAMPLE_HZ)
    )


def _run_metered(runtime: ModelRuntime, images: NDArray[np.uint8], plan: Consumption, meter: Meter) -> None:
    runtime.submit(images).wait()
    meter.start_job()
    start = time.perf_counter()
    while time.perf_counter() - start < METERED_S:
        runtime.submit(images).wait()
        plan.frames += len(images)
    since = meter.start_job()
    plan.seconds += since.seconds
    is_known = set(meter.attributed_rails) <= since.whole
    plan.joules = plan.joules + sum(since.added.values()) if is_known and plan.joules is not None else None
