"""What to tune: the distinct shapes of a network, and a problem for each, with the answer that is correct."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edged.engine.agreement import ReferenceProblem
from edged.engine.layout import Tensor
from edged.engine.shape import shape_of
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.graph import Conv, Dense


@dataclass(frozen=True)
class TuningTask:
    """Equal sites of a network: one of them, and the untuned seconds of a frame that all take."""

    site: Site[Any]
    frame_s: float


def work_of(sites: Sequence[Site[Any]], seconds: Mapping[str, float]) -> tuple[TuningTask, ...]:
    """Return `sites` of a plan, with `seconds` of a frame by operator, as tasks: the longest first."""
    equal: dict[str, list[Site[Any]]] = {}
    for site in sites:
        equal.setdefault(shape_of(site).key, []).append(site)
    works = (
        TuningTask(same[0], sum(seconds.get(site.operator.name, 0) for site in same)) for same in equal.values()
    )
    return tuple(sorted(works, key=lambda work: -work.frame_s))


def touched_bytes(sites: Sequence[Site[Any]]) -> int:
    """Return the weights and tensors, in bytes, that one frame passes through the caches."""
    tensors = sum(tensor.nbytes for site in sites for tensor in (*site.inputs, site.output))
    weights = sum(
        site.operator.weight.nbytes // (2 if site.half_weights else 1)
        for site in sites
        if isinstance(site.operator, Conv | Dense)
    )
    return tensors + weights


def problem_of(site: Site[Any]) -> ReferenceProblem:
    """Make a problem with normally distributed inputs and the operator's own weights."""
    random = np.random.default_rng(0)
    inputs = tuple(random.standard_normal(_shape(tensor), np.float32) for tensor in site.inputs)
    read = [x.reshape(len(x), -1) for x in inputs] if isinstance(site.operator, Dense) else inputs
    frames = [
        reference.compute(site.operator, *(x[i : i + 1].astype(np.float64) for x in read))
        for i in range(site.output.frames)  # one frame at a time: its patches take far more memory than the frame
    ]
    return ReferenceProblem(site, inputs, np.concatenate(frames).reshape(_shape(site.output)))


def _shape(tensor: Tensor) -> tuple[int, int, int, int]:
    return tensor.frames, tensor.channels, tensor.height, tensor.width
