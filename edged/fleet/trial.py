"""Try a model beside the one that answers: on this board's device, on the frames that its daemon has answered.

Both models compute each frame in this process, one after the other, so that load from the daemon and others
affects both alike.
"""

import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged.config import EnergyConfig, WorkerConfig
from edged.energy.find import find_rails
from edged.energy.meter import Meter
from edged.errors import DeviceError, ModelError
from edged.fleet.gate import NO_JOULES, Comparison, ModelFigures, figures_of
from edged.model.head import features_of
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.model.scores import score_rule
from edged.runtime.base import ModelRuntime
from edged.runtime.proven import open_proven, proven_chooser
from edged.runtime.scored import scores_of
from edged.runtime.select import device_for, is_numpy

VERIFIED = 2  # pictures on which each layer is compared with the reference
WARM_UPS = 2

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class AnsweredFrame:
    """A frame as the network received it, uint8 RGB [height, width, 3], and the label that was published."""

    pixels: Pixels
    label: str


def check_comparable(before: Model, after: Model) -> None:
    """Raise ModelError unless both take the same pictures, of which the daemon can give those that it answered."""
    old, new = before.input, after.input
    if (old.width, old.height, old.resize) != (new.width, new.height, new.resize):
        raise ModelError(
            f"{after.name} takes pictures of {new.width}×{new.height} ({new.resize}), {before.name} takes "
            f"{old.width}×{old.height} ({old.resize}): they cannot be compared on the same frames"
        )
    try:
        features_of(before.graph)
    except ModelError:
        raise ModelError(
            f"{before.name} does not end in a fully connected layer: its daemon does not give the frames that it "
            "answered, so nothing can be compared with it"
        ) from None


def verify(model: Model, worker: WorkerConfig, pictures: Pixels) -> None:
    """Compare each layer on the worker's device with the reference, on uint8 RGB [n, height, width, 3].

    NumPy is the reference itself. Raises DeviceError if the device must not be trusted with this model.
    """
    if is_numpy(worker):
        return
    device = device_for(model.graph, worker.device, worker.precision)
    from edged.engine.verifying import Verification

    verification = Verification(
        whole_model(model), device, precision=worker.precision, chooser=proven_chooser(device)
    )
    try:
        for _ in verification.compare(pictures):
            pass
    finally:
        verification.close()
    if not verification.is_trusted:
        wrong = verification.first_wrong
        where = f"the error begins at {wrong.layer} ({wrong.variant})" if wrong else "rounding adds up"
        raise DeviceError(f"{device.name} must not be trusted with {model.name}: {where}; see `edged verify`")


class Candidate:
    """A model on a device, with what each of its frames has cost."""

    def __init__(self, model: Model, worker: WorkerConfig, meter: Meter) -> None:
        """Open the device. Raises DeviceError, ModelError."""
        self._model, self._rule, self._meter = model, score_rule(model), meter
        self._runtime: ModelRuntime = open_proven(whole_model(model), worker).runtime
        self._seconds: list[float] = []
        self._joules: list[float | None] = []
        self._not_finite = 0

    def warm_up(self, pixels: Pixels) -> None:
        """Compute one frame without counting it."""
        for _ in range(WARM_UPS):
            self._runtime.submit(pixels[np.newaxis]).wait()

    def label(self, pixels: Pixels) -> str | None:
        """Return the first label of a frame; empty if none reaches its threshold, None without finite outputs."""
        self._meter.start_job()
        start = time.perf_counter()
        outputs = self._runtime.submit(pixels[np.newaxis]).wait().outputs.reshape(-1)
        self._seconds.append(time.perf_counter() - start)
        self._joules.append(self._meter.finish_job().joules)
        found = scores_of(outputs, self._rule)
        if found.scores is None:
            self._not_finite += 1
            return None
        best = self._rule.best(found.scores, 1)
        return self._model.labels[best[0].index] if best else ""

    def figures(self) -> ModelFigures:
        return figures_of(self._seconds, self._joules, self._not_finite)

    def close(self) -> None:
        self._runtime.close()


@dataclass
class SideBySide:
    """Both models on one device. `agreed`: frames for which `after` gives the label that was published."""

    before: Candidate
    after: Candidate
    joules_note: str = NO_JOULES
    frames: int = 0
    agreed: int = 0
    _order: list[Candidate] = field(default_factory=list)

    def add(self, sample: AnsweredFrame) -> None:
        """Compute a frame by both, in turns in the other order."""
        if not self._order:
            self._order = [self.before, self.after]
            for each in self._order:
                each.warm_up(sample.pixels)
        labels = {id(each): each.label(sample.pixels) for each in self._order}
        self._order.reverse()
        self.frames += 1
        self.agreed += labels[id(self.after)] == sample.label

    def comparison(self) -> Comparison:
        """Return the figures so far."""
        return Comparison(
            agreement=self.agreed / self.frames if self.frames else None,
            before=self.before.figures(),
            after=self.after.figures(),
            joules_note=self.joules_note,
        )


def compare(
    before: Model, after: Model, worker: WorkerConfig, energy: EnergyConfig, samples: Iterable[AnsweredFrame]
) -> Comparison:
    """Run both models on the samples. Raises DeviceError, ModelError."""
    rails = find_rails(energy, worker.rails)
    watts = energy.watts_per_core if rails.method == "estimated" else None
    meter = Meter(
        rails.rails, attributed_rails=rails.attributed_rails, watts_per_core=watts, sample_hz=energy.sample_hz
    )
    with ExitStack() as resources:
        resources.callback(meter.close)
        opened = [Candidate(model, worker, meter) for model in (before, after)]
        for candidate in opened:
            resources.callback(candidate.close)
        trial = SideBySide(opened[0], opened[1], joules_note=rails.note or NO_JOULES)
        for sample in samples:
            trial.add(sample)
        return trial.comparison()
