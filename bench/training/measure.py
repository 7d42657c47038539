"""One case with one number of threads: in a process of its own, since PoCL asks for its threads only once."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.training.case import Case, load_case
from bench.training.turns import time_in_turn
from edged.model.reference import Array

FIRST = 20  # steps, of which the mean loss is told: all must have learnt the same
RUN_S = 0.3  # what a timed run is to take, about

Steps = Callable[[int], float]


def main(task: dict[str, Any], output: Path) -> None:
    """Write what was measured as JSON; `__main__` says what is in a task."""
    case = load_case(task["case"])
    contenders = prepared(case, task["threads"], task["device"])
    losses = {name: take(FIRST) for name, take in contenders.items()}
    counts = {name: _steps_of(take) for name, take in contenders.items()}
    runs = {name: _run(take, counts[name]) for name, take in contenders.items()}
    times = time_in_turn(runs, task["rounds"], task["budget_s"])
    rows = [
        {"name": name, "loss": losses[name], "images": counts[name] * case.learning.batch, "turns": times[name]}
        for name in contenders
    ]
    output.write_text(json.dumps(task | {"batch": case.learning.batch, "rows": rows}))


def prepared(case: Case, threads: int, device: str) -> dict[str, Steps]:
    """All who take part, the yardstick first."""
    from bench.training.ours import Ours
    from bench.training.pytorch import PyTorch

    return {
        "pytorch": PyTorch(case, threads, channels_last=False),
        "pytorch-channels-last": PyTorch(case, threads, channels_last=True),
        "edged": Ours(case, device),
    }


def _steps_of(take: Steps) -> int:
    start = time.perf_counter()
    take(3)
    return max(1, round(RUN_S * 3 / (time.perf_counter() - start)))


def _run(take: Steps, count: int) -> Callable[[], Array]:
    return lambda: np.array(take(count))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
