"""Warm up a part of a model on its device, check known answers from then on, and compile its one launch."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from edged.clock import NANOSECONDS, now_ns
from edged.config import WorkerConfig
from edged.energy.find import Rails
from edged.energy.meter import Meter
from edged.errors import DeviceError
from edged.messages import ModelInfo, WorkerHello
from edged.model.model_part import Features, Images, ModelPart
from edged.model.package import Model
from edged.model.scores import ScoreRule, score_rule
from edged.runtime.base import ModelRuntime, Outputs
from edged.runtime.proven import faults_named, open_proven
from edged.worker.job_io import Served

TOLERANCE = 1e-3  # share of the largest output: more than rounding ever changes, less than a broken device does


@dataclass(eq=False)
class SelfCheck:
    """Checks the device by a known answer. `outputs`: its answer to `frames` at its start.

    `begins`: where each output of the network begins among them; each is compared by its own range.
    """

    frames: Images | Features
    outputs: Outputs
    _checked_ns: int = field(default_factory=now_ns)
    begins: tuple[int, ...] = (0,)

    def check(self, runtime: ModelRuntime, every_s: float) -> None:
        """Check the answer again if the last check is long ago, which takes one or two jobs.

        Raises DeviceError if it has changed, or there is none.
        """
        now = now_ns()
        if now - self._checked_ns < every_s * NANOSECONDS:
            return
        self._checked_ns = now
        outputs = runtime.submit(self.frames).wait().outputs
        pairs = zip(self._split(outputs), self._split(self.outputs), strict=True)
        if not all(_agree(one, other) for one, other in pairs):
            raise DeviceError(
                f"{runtime.device_name} no longer gives the answer that it gave at its start to the same picture"
            )

    def _split(self, outputs: Outputs) -> list[Outputs]:
        return np.split(outputs.reshape(len(outputs), -1), self.begins[1:], axis=1)


def _agree(one: Outputs, other: Outputs) -> bool:
    """Compare up to rounding; NaN equals only NaN."""
    largest = np.abs(other, where=np.isfinite(other), out=np.zeros_like(other)).max()
    return np.allclose(one, other, rtol=0, atol=TOLERANCE * largest, equal_nan=True)


WARM_UP_RUNS = 2  # some devices compile at the first launch; the second one is like all later ones

COMPOSE_AFTER_S = 3.0  # seconds of service: the first frames need the processor, and a worker may end at once

log = logging.getLogger("edged.worker")


@dataclass(frozen=True, eq=False)
class Ready:
    """A warm runtime.

    `forward_s`: time of a full batch from submission to answer. `excluded_variants`, `is_compared`: see `Proven`.
    """

    part: ModelPart
    runtime: ModelRuntime
    served: Served
    self_check: SelfCheck
    forward_s: float
    excluded_variants: tuple[str, ...]
    is_compared: bool


def make_ready(part: ModelPart, worker: WorkerConfig, cache: Path) -> Ready:
    """Open the device that `worker` names for a part of a model, compare it with the reference, and warm it up.

    Raises DeviceError, also if the device does not agree with the reference, or ModelError if the network does not
    fit it.
    """
    proven = open_proven(part, worker, cache=cache)
    with faults_named(part, worker):
        forward_s, known = warm_up(proven.runtime, part, worker)
    return Ready(
        part,
        proven.runtime,
        served_of(part, worker),
        known,
        forward_s,
        proven.excluded_variants,
        proven.is_compared,
    )


def served_of(part: ModelPart, worker: WorkerConfig) -> Served:
    """Return the properties of the part that the worker's loop needs."""
    model = part.of_model()
    return Served(
        frame=part.frame_shape,
        batch=worker.batch,
        rule=model.detector or score_rule(model),
        takes_features=part.begin is not None,
        gives_features=part.end is not None,
        taught=prod(part.graph.shapes[part.features]) if part.features else 0,
    )


def warm_up(runtime: ModelRuntime, part: ModelPart, worker: WorkerConfig) -> tuple[float, SelfCheck]:
    """Run a batch, so that the first frame does not wait for one-time work of the device.

    Returns the seconds of the last run, from its submission to its answer, and its answer for one picture.
    Raises DeviceError if the device gives NaN where the reference does not.
    """
    frames = part.noise(worker.batch)
    for _ in range(WARM_UP_RUNS):
        start = time.perf_counter()
        outputs = runtime.submit(frames).wait().outputs
    forward_s = time.perf_counter() - start
    if part.model and part.model.detector and not part.end:
        part.model.detector.warm_up()
    known = SelfCheck(frames[:1], outputs[:1], begins=part.output_begins)
    if not np.isfinite(known.outputs).all() and "fp16" not in worker.precision:  # which has no number beyond 65504
        _check_nan(runtime.device_name, part, known)
    return forward_s, known


def _check_nan(device: str, part: ModelPart, known: SelfCheck) -> None:
    """Raise DeviceError if the reference gives numbers; log a warning if the model itself gives NaN."""
    name = part.graph.name
    if np.isfinite(part.truth(known.frames)).all():
        raise DeviceError(f"{device} answers {name} with NaN or infinity, where the reference has numbers")
    log.warning("%s answers even noise with NaN or infinity: frames will be dropped as not_finite", name)


def hello_of(
    name: str, worker: WorkerConfig, model: Model, ready: Ready, rails: Rails, meter: Meter
) -> WorkerHello:
    """Return the hello of a worker with this `name`."""
    rule = ready.served.rule
    return WorkerHello(
        worker=name,
        host=worker.host or "",
        device=ready.runtime.device_name,
        precision=worker.precision,
        batch=worker.batch,
        max_wait_s=worker.max_wait_s,
        credit=worker.credit,
        forward_s=ready.forward_s,
        model=ModelInfo(
            name=model.name,
            sha256=model.sha256,
            labels=model.labels,
            width=model.input.width,
            height=model.input.height,
            random_weights=model.random_weights,
            resize=model.input.resize,
            preparation=model.input.described,
            prepared_by=model.prepared_by,
            scores=rule.kind if isinstance(rule, ScoreRule) else "independent",
            scoring=rule.described,
            task="classify" if isinstance(rule, ScoreRule) else "detect",
        ),
        part=ready.part.described,
        excluded_variants=ready.excluded_variants,
        features=ready.served.taught,
        energy=rails.method,
        energy_note=rails.note,
        attributed_rails=meter.attributed_rails,
        idle_watts=meter.idle_watts,
    )


def compose_in_background(runtime: ModelRuntime, then: Callable[[], None]) -> None:
    """Start a thread that makes `runtime` faster if it can, and calls `then`; the process may end before it."""

    def compose() -> None:
        time.sleep(COMPOSE_AFTER_S)
        _compose(runtime)
        then()

    threading.Thread(target=compose, name="compose", daemon=True).start()


def _compose(runtime: ModelRuntime) -> None:
    start = time.perf_counter()
    try:
        if runtime.compose(apart=True):
            log.debug("one launch a frame is possible, prepared in %.2f s", time.perf_counter() - start)
    except DeviceError as error:
        log.info("%s; the layers are launched one by one", error)
