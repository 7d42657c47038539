"""ResNet-50 at 120×120 by layer: what is convolution, what is copies, what is the host's calls."""

from collections.abc import Sequence, Set

import numpy as np

from edged.engine.device import Device
from edged.engine.profile import Run, profile
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser, Rules
from edged.engine.tuning_records import chooser_for
from edged.model.graph import Conv
from edged.model.model_part import ModelPart
from edged.model.package import Model
from tools.reproduce.table import duration, table

Shares = dict[str, float]
WHOLE = "a frame, from its pixels to its scores"


def report(model: Model, device: Device, runs: int) -> str:
    """Profile the model by naive kernels and by those that edged chooses; return the shares as a table."""
    naive, ours = (_fastest(model, device, chooser, runs) for chooser in (Rules("naive"), chooser_for(device)))
    convolutions = {each.name for each in model.graph.operators if isinstance(each, Conv)}
    before, after = shares(naive, convolutions), shares(ours, convolutions)
    rows = [(what, *_cells(before, what), *_cells(after, what)) for what in after]
    slowest = ", ".join(f"`{name}` {duration(seconds)}" for name, seconds in _slowest(ours))
    heading = ("part of a frame", "naive", "share", "edged", "share")
    return f"{table(heading, rows)}\n\nSlowest layers of edged: {slowest}."


def shares(run: Run, convolutions: Set[str]) -> Shares:
    """Return the seconds of a frame by where they went; all but the last add up to the last."""
    result = run.result
    in_convolutions = sum(kernel.seconds for kernel in result.kernels if kernel.operator in convolutions)
    in_others = sum(kernel.seconds for kernel in result.kernels) - in_convolutions
    copies = result.upload_s + result.download_s
    return {
        "convolutions": in_convolutions,
        "other kernels": in_others,
        "gaps between kernels": result.forward_s - in_convolutions - in_others,
        "copies to and from the device": copies,
        "host calls and waking up": run.wall_s - result.forward_s - copies,
        WHOLE: run.wall_s,
    }


def _cells(found: Shares, what: str) -> tuple[str, str]:
    return duration(found[what]), f"{found[what] / found[WHOLE]:.1%}"


def _fastest(model: Model, device: Device, chooser: Chooser, runs: int) -> Run:
    """Return the run that other programs disturbed least: parts of different runs do not add up."""
    wanted = model.input
    runtime = Runtime(ModelPart(model.graph, wanted), device, chooser=chooser)
    images = np.random.default_rng(0).integers(0, 256, (1, wanted.height, wanted.width, 3), np.uint8)
    try:
        return min(profile(runtime, runtime.costs, images, runs).runs, key=lambda run: run.wall_s)
    finally:
        runtime.close()


def _slowest(run: Run, count: int = 5) -> Sequence[tuple[str, float]]:
    """Return the layers that take most of a frame, with their seconds."""
    seconds: dict[str, float] = {}
    for kernel in run.result.kernels:
        seconds[kernel.operator] = seconds.get(kernel.operator, 0) + kernel.seconds
    return sorted(seconds.items(), key=lambda item: -item[1])[:count]
