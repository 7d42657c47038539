"""Measure how long each part of a network takes on this worker's device: the answer to `MeasureRequest`."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from statistics import fmean

from edged.clock import now_ns, seconds_since
from edged.config import WorkerConfig
from edged.energy.meter import JobEnergy
from edged.messages import CutPoint, Job, MeasureAnswer, MeasureRequest, encode
from edged.model.cuts import Cut, cut_after, cuts
from edged.model.graph import Flatten, Graph, Operator, Unflatten
from edged.model.model_part import ModelPart, part_of
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.runtime.select import is_numpy, open_runtime, opencl_device
from edged.worker.job_io import FEATURE, Served, answer_to, frames_of
from edged.worker.warm_up import served_of, warm_up

FEWEST = 3  # rounds
UNMEASURED = JobEnergy(None, {})

Payloads = Sequence[bytes | memoryview]  # bytes of a job, or of its answer


def measure(request: MeasureRequest, model: Model, worker: WorkerConfig, cache: Path) -> MeasureAnswer:
    """Run frames of noise through the network in stretches, from one place to the next, repeatedly.

    So each stretch finds the caches as the one before it leaves them. Raises DeviceError.
    """
    ends = [None, *(cut.after for cut in cuts_in(model.graph)), None]
    parts = [part_of(model, *two) for two in pairwise(ends)]
    with ExitStack() as opened:
        stretches = [Stretch(part, worker, cache, opened) for part in parts]
        images = [image.tobytes() for image in parts[0].noise(request.frames)]
        start_ns = now_ns()
        while seconds_since(start_ns) < request.for_s or len(stretches[0].seconds) < FEWEST:
            payloads: Payloads = images
            for stretch in stretches:
                payloads = stretch.run(payloads, request.frames)
    return MeasureAnswer(
        cut_points=tuple(_cut_points(stretches, request.frames)),
        overlaps=not is_numpy(worker) and opencl_device(worker.device).kind != "cpu",
    )


def cuts_in(graph: Graph) -> Iterator[Cut]:
    """Yield the cuts that a config can name, with something to compute between each and the next."""
    begin = 0
    for cut in cuts(graph):
        named = cut_after(graph, cut.after)
        parts = [graph.operators[begin : cut.operators], graph.operators[named.operators :]]
        between = graph.operators[cut.operators : named.operators]
        if all(map(_computes, parts)) and not _computes(between):
            yield named
            begin = named.operators


def _computes(operators: Sequence[Operator]) -> bool:
    """Return whether an operator computes something; flattening does not."""
    return not all(isinstance(operator, Flatten | Unflatten) for operator in operators)


class Stretch:
    """An indivisible part, as a worker would run it. `seconds`: of the three steps of each job."""

    def __init__(self, part: ModelPart, worker: WorkerConfig, cache: Path, opened: ExitStack) -> None:
        self.part = part
        self.seconds: list[tuple[float, float, float]] = []
        self._runtime: ModelRuntime = open_runtime(replace(part, keeps_weights=False), worker, cache=cache)
        opened.callback(self._runtime.close)
        warm_up(self._runtime, part, worker)
        self._served: Served = served_of(part, worker)

    def run(self, payloads: Payloads, frames: int) -> Payloads:
        """Run a job, from its payloads to those of its answer."""
        job = Job(job=0, frames=frames, top=1, timeout_s=0)
        begun = time.perf_counter()
        pending = self._runtime.submit(frames_of(job, payloads, self._served))
        submitted = time.perf_counter()
        result = pending.wait()
        answer, features = answer_to(job, result, UNMEASURED, self._served)
        encode(answer)
        ended = time.perf_counter()
        receive_s, rest_s = submitted - begun, ended - submitted
        self.seconds.append((receive_s, result.forward_s, max(0.0, rest_s - result.forward_s)))
        return features

    @property
    def means(self) -> tuple[float, float, float]:
        """Return seconds to receive a job, compute it and send the answer.

        Means, not medians: a delay of one job in ten adds to the whole network, but not to any median.
        """
        receive_s, compute_s, send_s = map(fmean, zip(*self.seconds, strict=True))
        return receive_s, compute_s, send_s


def _cut_points(stretches: Sequence[Stretch], frames: int) -> Iterator[CutPoint]:
    """Yield a cut point before each stretch, and the scores."""
    receive_s, compute_s, send_s = zip(*(stretch.means for stretch in stretches), strict=True)
    reached_s = accumulate(compute_s, initial=0.0)
    names = [*(stretch.part.begin.after if stretch.part.begin else None for stretch in stretches), None]
    sizes = [*(_nbytes(stretch.part) for stretch in stretches), 0]
    for name, size, *seconds in zip(names, sizes, reached_s, (*receive_s, 0.0), (0.0, *send_s), strict=True):
        reached, take, give = seconds
        yield CutPoint(after=name, nbytes=frames * size, reached_s=reached, receive_s=take, send_s=give)


def _nbytes(part: ModelPart) -> int:
    """Return the size of one frame as it arrives."""
    return prod(part.frame_shape) * (1 if part.input else FEATURE.itemsize)
