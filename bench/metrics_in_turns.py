"""`edged` whose hub counts for a moment, then does not, and on: `python -m bench.metrics_in_turns run …`.

A slice that is on lies beside one that is off, in the same process: what else the machine does meets both. At
its end it prints what each slice has predicted, and what it took of the processor, all threads of the hub.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from edged.__main__ import main
from edged.hub.stats.counters import JobFigures, PredictionFigures
from edged.metrics import Metrics
from edged.metrics.fast import HistogramSeries

SLICE_S = 2.0  # long enough that what is added in one is counted in it, but for a few
COUNTED = (
    (PredictionFigures, "add"),
    (JobFigures, "answered"),
    (Metrics, "count_frames"),
    (HistogramSeries, "observe"),
)


class Turns:
    """Whether metrics count just now, and what came of each slice: [predictions, seconds of the processor]."""

    def __init__(self) -> None:
        self.on = True
        self.predictions = 0
        self.slices: list[tuple[bool, int, float]] = []

    def run(self) -> None:
        """For ever."""
        while True:
            predictions, cpu_s = self.predictions, time.process_time()
            time.sleep(SLICE_S)
            self.slices.append((self.on, self.predictions - predictions, time.process_time() - cpu_s))
            self.on = not self.on


def taking_turns(turns: Turns, real: Callable[..., None], *, is_prediction: bool) -> Callable[..., None]:
    """`real`, while it is on."""

    def count(*arguments: Any, **named: Any) -> None:
        turns.predictions += is_prediction
        if turns.on:
            real(*arguments, **named)

    return count


if __name__ == "__main__":
    turns = Turns()
    for kind, name in COUNTED:
        real = getattr(kind, name)
        setattr(kind, name, taking_turns(turns, real, is_prediction=kind is PredictionFigures))
    threading.Thread(target=turns.run, daemon=True).start()
    code = main()
    print(json.dumps({"slices": turns.slices}), file=sys.stderr)
    sys.exit(code)
