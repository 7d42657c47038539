"""The sums of a run, its limits, its status line once a second, and the summary at its end."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edged.arithmetic import median_and_p99
from edged.clock import seconds_since
from edged.hub.frames.ledger import Ledger
from edged.messages import STAGES, EnergyMethod, Prediction
from edged.system.plain_text import counted, printable

KEPT = 10_000  # newest predictions that the times of the summary describe
RECENT = 300  # and those of the status line
COLUMNS = 80  # of a terminal


class Times:
    """The newest times of one stage."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values = array("d")
        self._next = 0

    def add(self, seconds: float) -> None:
        """Add a time; drop the oldest if there are too many."""
        if len(self._values) < self._most:
            self._values.append(seconds)
        else:
            self._values[self._next] = seconds
            self._next = (self._next + 1) % self._most

    def median_and_p99(self) -> tuple[float, float] | None:
        """Return median and 99th percentile (nearest rank), or None if nothing was timed."""
        if not self._values:
            return None
        return median_and_p99(self._values)


class CameraTally:
    def __init__(self) -> None:
        self.last: Prediction | None = None  # with an answer, and so a label
        self.last_frame = -1
        self.since_line = 0
        self.total = Times(RECENT)
        self.truth: Counter[bool] = Counter()


class Tally:
    """Sums over all predictions of a run."""

    def __init__(self, cameras: Iterable[str]) -> None:
        self.cameras = {name: CameraTally() for name in cameras}
        self.predictions = 0
        self.stages = {stage: Times(KEPT) for stage in STAGES}
        self.joules = 0.0
        self.with_joules = 0
        self.method: EnergyMethod = "none"

    @property
    def joules_each(self) -> float | None:
        """Return joules per prediction, over those whose energy is known; None if there are none."""
        return self.joules / self.with_joules if self.with_joules else None

    def add_camera(self, name: str) -> None:
        self.cameras.setdefault(name, CameraTally())

    def add(self, prediction: Prediction, right: bool | None) -> None:
        """Add a prediction. `right`: whether its best label is correct, None if unknown."""
        self.predictions += 1
        camera = self.cameras[prediction.camera]
        camera.last_frame = prediction.frame
        camera.since_line += 1
        camera.total.add(prediction.seconds.total)
        if prediction.top:
            camera.last = prediction
        if right is not None:
            camera.truth[right] += 1
        for stage, times in self.stages.items():
            times.add(getattr(prediction.seconds, stage))
        if prediction.energy.joules is not None:
            self.joules += prediction.energy.joules
            self.with_joules += 1
            self.method = prediction.energy.method


@dataclass(frozen=True, slots=True)
class Limits:
    """End the run after so many predictions, or seconds after the first worker was ready; None: no limit."""

    predictions: int | None = None
    seconds: float | None = None

    def count_reached(self, predictions: int) -> bool:
        """Return whether no more than these predictions may be published."""
        return self.predictions is not None and predictions >= self.predictions

    def reached(self, predictions: int, first_ready_ns: int | None) -> bool:
        """Return whether the run is over. `first_ready_ns`: when the first worker was ready; None: not yet."""
        if self.count_reached(predictions):
            return True
        if self.seconds is None or first_ready_ns is None:
            return False
        return seconds_since(first_ready_ns) >= self.seconds


def share_right(truth: Counter[bool]) -> float | None:
    """Return the share of correct answers, or None if no truth is known."""
    known = truth[True] + truth[False]
    return truth[True] / known if known else None


def camera_line(name: str, width: int, seconds: float, *, tally: CameraTally, ledger: Ledger, state: str) -> str:
    """Format a camera's line. `seconds` since its last line; `state`: why there is nothing, or the joules.

    80 columns hold it, but for long names: reasons of drops are left out where they would be too wide.
    """
    for reasons in range(len(ledger.dropped), -1, -1):
        line = _camera_line(name, width, seconds, tally, _dropped(ledger.dropped, reasons), state)
        if len(line) < COLUMNS:
            break
    return line


def _camera_line(name: str, width: int, seconds: float, tally: CameraTally, dropped: str, state: str) -> str:
    start = f"{name:{width}}"
    if not tally.since_line:
        return f"{start}  {state}; dropped {dropped}"
    middle, high = tally.total.median_and_p99() or (0.0, 0.0)
    best = tally.last.top[0] if tally.last else None
    right = share_right(tally.truth)
    return "  ".join(
        [
            start,
            f"{tally.since_line / seconds:4.3g} fps",
            f"{printable(best.label[:16]):8} {best.score:4.0%}" if best else f"{'-':13}",
            f"{1000 * middle:5.1f} ms (p99 {1000 * high:5.1f})",
            f"dropped {dropped}",
            *([] if right is None else [f"right {right:.1%}"]),
            *([state] if state else []),
        ]
    )


def summary(ledgers: Mapping[str, Ledger], tally: Tally, energy_note: str) -> dict[str, Any]:
    """Return the object that `edged run --json` prints at the end: captured = predictions + all dropped frames."""
    dropped: Counter[str] = Counter()
    truth: Counter[bool] = Counter()
    for ledger in ledgers.values():
        dropped.update(ledger.dropped)
    for camera in tally.cameras.values():
        truth.update(camera.truth)
    return {
        "captured": sum(ledger.captured for ledger in ledgers.values()),
        "predictions": sum(ledger.predicted for ledger in ledgers.values()),
        "dropped": dict(sorted(dropped.items())),
        "accuracy": share_right(truth),
        "labelled": truth[True] + truth[False],
        "seconds": {
            stage: dict(zip(("median", "p99"), times.median_and_p99() or (None, None), strict=True))
            for stage, times in tally.stages.items()
        },
        "energy": {
            "joules": tally.joules if tally.with_joules else None,
            "method": tally.method,
            "per_prediction": tally.joules_each,
            "note": energy_note,
        },
    }


def summary_text(report: Mapping[str, Any], seconds: float) -> str:
    """Format the summary for people."""
    accuracy = report["accuracy"]
    energy = report["energy"]
    joules = f"{energy['per_prediction']:.3g} J a prediction, {energy['method']}" if energy["joules"] else ""
    captured = counted(report["captured"], "frame")
    lines = [
        f"{counted(report['predictions'], 'prediction')} of {captured} in {seconds:.1f} s",
        f"dropped   {_dropped(report['dropped'])}",
        *(
            []
            if accuracy is None
            else [f"accuracy  {accuracy:.2%} of {counted(report['labelled'], 'labelled frame')}"]
        ),
        f"energy    {joules or energy['note'] or 'not measured'}",
    ]
    if report["predictions"]:
        lines += [f"{'stage':10}{'median':>12}{'p99':>12}"]
        lines += [
            f"{stage:10}{1000 * times['median']:9.2f} ms{1000 * times['p99']:9.2f} ms"
            for stage, times in report["seconds"].items()
        ]
    return "\n".join(lines)


def _dropped(dropped: Mapping[str, int], most: int | None = None) -> str:
    """Format the sum, and the most frequent reasons, all or `most` of them."""
    shown = sorted(dropped.items(), key=lambda item: -item[1])[:most]
    if not shown:
        return str(sum(dropped.values()))
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(shown))
    more = ", …" if len(shown) < len(dropped) else ""
    return f"{sum(dropped.values())} ({reasons}{more})"
