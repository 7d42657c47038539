"""One run of `edged tune`: tune a network, and time it before and after."""

import math
import shutil
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from edged.cli.pictures import random_images
from edged.config import Precision
from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser, Listener, Rules
from edged.engine.tuning.attempt_log import AttemptLog
from edged.engine.tuning.comparison import error_of, times_in_turn
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import touched_bytes, work_of
from edged.engine.tuning.tuner import Tuner, TuningProgress
from edged.engine.tuning_records import chooser_for, user_record
from edged.errors import DeviceError
from edged.model.model_part import ModelPart
from edged.model.package import Model
from edged.system.machine_state import OTHERS, Account, watch
from edged.system.paths import cache_directory
from edged.system.terminal import StatusLine

BAR = 20
PROFILED_RUNS = 7
# of the range of a network's scores
TOLERANCE: Mapping[Precision, float] = {"fp32": 1e-4, "fp16-weights": 1e-2, "fp16": 5e-2, "bf16": 5e-2}


class TuningLine:
    """Shows the progress of the tuner on standard error."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._is_terminal = sys.stderr.isatty()

    def show(self, progress: TuningProgress) -> None:
        """Show the progress after a try or a shape; a refused variant keeps a line of its own."""
        if refusal := progress.refused:
            reason = f"{refusal.reason}, {refusal.detail}"
            self._line.keep(f"refused for {progress.shape}: {refusal}: {reason}")
        if self._is_terminal:
            self._line.show(as_line(progress))
        elif progress.choice is None:
            self._line.keep(as_line(progress))

    def end(self) -> None:
        """Leave the line as it is."""
        self._line.end()


def as_line(progress: TuningProgress) -> str:
    """Format the progress: [####------] 3 of 25 shapes, 21 % of the frame; gain 4.2 %; Conv 64×30×30 → …: …"""
    share, gain = progress.done_s / progress.frame_s, progress.gained_s / progress.frame_s
    bar = "#" * round(share * BAR)
    done = f"{progress.shapes_done} of {progress.shapes} shapes, {share * 100:.0f} % of the frame"
    now = f"{progress.shape}: {progress.choice}" if progress.choice else f"{progress.shape}"
    return f"[{bar:-<{BAR}}] {done}; gain {gain * 100:.1f} %; {now}"


class Session:
    """Tunes one model on one device. Raises DeviceError, ModelError, ConfigError."""

    def __init__(self, model: Model, device: Device, batch: int, precision: Precision) -> None:
        self._model, self._batch, self._precision = model, batch, precision
        self._device = device
        self.record = user_record(device)
        self._images = random_images(model.input, batch)

    def tune(self, seconds: float, *, again: bool, pause: bool) -> None:
        """Try variants for `seconds`, or until all are tried.

        `pause`: after each try, for as long as it took. Then a daemon serves beside it, which disturbs each turn.
        """
        listener = Listener(Rules())
        by_operator = self._seconds_by_operator(listener)
        programs = cache_directory() / "tuning"  # there are thousands, most of them never used again
        with AttemptLog(self.record, self._device) as attempts:
            works = work_of(listener.sites, by_operator)
            if again:
                attempts.forget(work.site for work in works)
            rig = Rig(self._device, programs, touched_bytes(listener.sites))
            ends_at = time.monotonic() + seconds
            others = math.inf if pause else OTHERS
            with watch(computes=self._device.kind == "cpu", most_others=others) as machine:
                tuner = Tuner(rig, attempts, Rules(), works, lambda: time.monotonic() > ends_at, machine)
                self._watch(tuner, pause)
            if tuner.is_done:
                shutil.rmtree(programs, ignore_errors=True)

    def _watch(self, tuner: Tuner, pause: bool) -> None:
        line, began = TuningLine(), time.monotonic()
        try:
            for progress in tuner.tune():
                line.show(progress)
                if pause:
                    time.sleep(time.monotonic() - began)
                began = time.monotonic()
        finally:
            line.end()

    def compare(self) -> dict[str, Any]:
        """Time the network untuned and tuned, in turn; times in seconds.

        Raises DeviceError if the tuned network is wrong.
        """
        runtimes = [self._open(Rules()), self._open(chooser_for(self._device))]
        with watch(computes=self._device.kind == "cpu") as machine:
            (before, after), account = times_in_turn(runtimes, self._images, machine)
        error = error_of(runtimes[1], self._model.graph, self._model.input, self._images[:1])
        if not error <= TOLERANCE[self._precision]:
            raise DeviceError(
                f"{self._model.name} tuned is wrong by {error:.1e} of the range, though each kernel alone is "
                f"right: remove {self.record}, and please report this"
            )
        low, ratio, high = np.percentile(after / before, [25, 50, 75])
        return {
            "model": self._model.name,
            "batch": self._batch,
            "precision": self._precision,
            "device": self._device.name,
            "seconds": {"untuned": float(np.median(before)), "tuned": float(np.median(after))},
            "ratio": {"median": float(ratio), "quartiles": [float(low), float(high)], "rounds": len(after)},
            "machine": account.as_object(),
            "error": float(error),
            "record": str(self.record),
        }

    def _seconds_by_operator(self, chooser: Chooser) -> dict[str, float]:
        """Profile the untuned network: the median of a few runs."""
        runtime = self._open(chooser)
        runs = [runtime.submit(self._images).wait().kernels for _ in range(PROFILED_RUNS)]
        runtime.close()
        seconds: dict[str, float] = {}
        for same in zip(*runs, strict=True):
            median = float(np.median([kernel.seconds for kernel in same]))
            seconds[same[0].operator] = seconds.get(same[0].operator, 0) + median
        return seconds

    def _open(self, chooser: Chooser) -> Runtime:
        model = self._model
        return Runtime(
            ModelPart(model.graph, model.input),
            self._device,
            batch=self._batch,
            precision=self._precision,
            chooser=chooser,
        )


def verdict(result: Mapping[str, Any]) -> str:
    """Format the result of `Session.compare` for people."""
    seconds, ratio = result["seconds"], result["ratio"]
    low, high = ratio["quartiles"]
    return (
        f"{result['model']}, batch {result['batch']}, {result['precision']}, on {result['device']}: "
        f"untuned {seconds['untuned'] * 1e3:.2f} ms, tuned {seconds['tuned'] * 1e3:.2f} ms: "
        f"in {ratio['rounds']} pairs of runs tuned took {ratio['median']:.3f} of the time "
        f"(quartiles {low:.3f} to {high:.3f}); error {result['error']:.1e} of the range\n"
        f"{Account(**result['machine'])}\n"
        f"record: {result['record']}"
    )
