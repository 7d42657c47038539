"""One case with one number of threads: in a process of its own, since PoCL asks for its threads only once."""

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.engine.device import find_device
from edged.engine.peaks import measure as measure_peaks
from tests.perf.peers.cases import Case, load_case
from tests.perf.peers.contenders import CONTENDERS
from tests.perf.peers.ours import Ours
from tests.perf.peers.turns import Run, time_in_turn


def main(task: dict[str, Any], output: Path) -> None:
    """Write what was measured as JSON; `__main__` says what is in a task."""
    case = load_case(task["case"])
    runs: dict[str, Run] = {}
    rows: list[dict[str, Any]] = []
    for name in task["contenders"]:
        row: dict[str, Any] = {"name": name}
        try:
            run, row["error"] = _prepared(name, case, task)
            row["weight_bytes"] = run.weight_bytes if isinstance(run, Ours) else case.weight_bytes
            runs[name] = run
        except Exception as problem:  # a peer may fail in any way, and the table says in which
            row["missing"] = f"{type(problem).__name__}: {problem}".splitlines()[0][:150]
        rows.append(row)
    peaks = asdict(measure_peaks(find_device(task["device"])))
    times = time_in_turn(runs, task["rounds"], task["budget_s"])
    for row in rows:
        row["turns"] = times.get(row["name"], [])
    facts = {"flops": case.flops, "weight_bytes": case.weight_bytes, "batch": case.batch, "peaks": peaks}
    output.write_text(json.dumps(task | facts | {"rows": rows}))


def _prepared(name: str, case: Case, task: dict[str, Any]) -> tuple[Run, float | None]:
    print(f"preparing {name}", flush=True)
    run = CONTENDERS[name](case, task["threads"], task["device"])
    error = case.error(run())
    return run, None if math.isnan(error) else error  # not a number: it has no scores


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
