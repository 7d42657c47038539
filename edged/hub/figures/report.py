"""What people and programs read of a run: a line a second, and the summary at its end."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from edged.hub.figures.tally import CameraTally, Tally, share_right
from edged.hub.frames.ledger import Ledger
from edged.printable import printable


def camera_line(name: str, width: int, seconds: float, *, tally: CameraTally, ledger: Ledger, state: str) -> str:
    """The state of one camera; `seconds` since its line before, `state`: why there is nothing, or the joules."""
    start = f"{name:{width}}"
    if not tally.since_line or not tally.label:
        return f"{start}  {state}; dropped {_dropped(ledger.dropped)}"
    middle, high = tally.total.median_and_p99() or (0.0, 0.0)
    label, score = tally.label
    right = share_right(tally.truth)
    return "  ".join(
        [
            start,
            f"{tally.since_line / seconds:5.1f} fps",
            f"{printable(label[:16]):8} {score:4.0%}",
            f"{1000 * middle:5.1f} ms (p99 {1000 * high:5.1f})",
            f"dropped {_dropped(ledger.dropped)}",
            *([] if right is None else [f"right {right:.1%}"]),
            state,
        ]
    )


def summary(ledgers: Mapping[str, Ledger], tally: Tally, energy_note: str) -> dict[str, Any]:
    """The object that `edged run --json` prints last: captured = predictions + all that was dropped."""
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
    """The same for people."""
    accuracy = report["accuracy"]
    energy = report["energy"]
    joules = f"{energy['per_prediction']:.3g} J a prediction, {energy['method']}" if energy["joules"] else ""
    lines = [
        f"{report['predictions']} predictions of {report['captured']} frames in {seconds:.1f} s",
        f"dropped   {_dropped(report['dropped'])}",
        *([] if accuracy is None else [f"right     {accuracy:.2%} of the frames whose label is known"]),
        f"energy    {joules or energy['note'] or 'not measured'}",
    ]
    if report["predictions"]:
        lines += [f"{'stage':10}{'median':>12}{'p99':>12}"]
        lines += [
            f"{stage:10}{1000 * times['median']:9.2f} ms{1000 * times['p99']:9.2f} ms"
            for stage, times in report["seconds"].items()
        ]
    return "\n".join(lines)


def _dropped(dropped: Mapping[str, int]) -> str:
    if not dropped:
        return "0"
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items()))
    return f"{sum(dropped.values())} ({reasons})"
