"""What workers answer at saturation, and how old that is: `python -m bench.throughput threads|batch`.

Hub and workers are real, cameras are simulated (see `swarm`), so that they take little of the processor. The cases
take turns, each with a daemon of its own for some windows of seconds, each window with the state of the machine.
Nothing here is a test: how fast a machine is, is nobody's promise.
"""

import argparse
import math
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.hub_load import CATCH_UP_S, Listener, Load, swarm
from bench.quartiles import Quartiles, states_of
from bench.raw_results import keep, origin
from edged.system.machine_state import OTHERS, MachineState
from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port

MODEL = {"name": "resnet50", "size": 120}
WARM_S = 1.0
STOP_S = 0.3  # until the workers have answered their jobs after the cameras stand still


@dataclass(frozen=True)
class Window:
    """What was answered in some seconds. `age_ms`: median, from capture until a subscriber has the prediction."""

    state: str
    others: float
    case: str
    fps: float
    age_ms: float


@dataclass(frozen=True)
class Case:
    """`workers`: as in the config; `cameras` offer `fps` frames a second each, or as many as are wanted."""

    name: str
    workers: list[dict[str, Any]]
    cameras: int = 8
    fps: float = math.inf


COLUMNS = ("ResNet-50 at 120×120", "state, windows", "frames/s", "ratio", "age")


def thread_cases(batch: int) -> list[Case]:
    """One thread, then two in two workers."""
    one = {"device": "cpu", "threads": 1, "group": "all", "batch": batch}
    return [Case("one worker", [one]), Case("two workers", [one, one])]


def batch_cases(batches: list[int], max_wait_s: float) -> list[Case]:
    """Eight cameras that give what one worker can answer, then one that gives little."""
    workers = {batch: [{"device": "cpu", "batch": batch, "max_wait_s": max_wait_s}] for batch in batches}
    return [Case(f"batch {batch}", worker) for batch, worker in workers.items()] + [
        Case(f"batch {batch}, 5 fps", worker, cameras=1, fps=5.0) for batch, worker in workers.items()
    ]


def measure(case: Case, folder: Path, windows: int, seconds: float, machine: MachineState) -> Iterator[Window]:
    """Start a daemon and yield so many windows of it."""
    with (
        started(case, folder) as daemon,
        swarm(Load(case.cameras, 0, case.fps), daemon) as offered,
        Listener(daemon.address) as listener,
    ):
        listener.skip(WARM_S, offered.require_alive)

        def look() -> list[float]:
            listener.skip(CATCH_UP_S, offered.require_alive)
            return listener.ages(seconds)

        for _ in range(windows):
            ages, turn = machine.during(look, partial(offered.standing_still, STOP_S))
            age_ms = 1000 * median(ages) if ages else math.nan
            yield Window(turn.state, turn.others, case.name, len(ages) / seconds, age_ms)


@contextmanager
def started(case: Case, folder: Path, module: str = "edged") -> Iterator[Daemon]:
    """A daemon whose cameras come from elsewhere; its cache stays for the next one."""
    config: dict[str, Any] = {
        "node": "test",
        "cameras": {f"c{index}": {"source": 0, "host": "swarm"} for index in range(case.cameras)},
        "model": MODEL,
        "workers": case.workers,
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
        "link": {"address": f"ipc://{folder}/link"},
    }
    with run_edged(folder, config=config, module=module) as daemon:
        yield daemon


def as_rows(windows: Sequence[Window]) -> Iterator[tuple[str, ...]]:
    """Return a row of a table for each case and state; the ratio is to the first case in that state."""
    first = windows[0].case
    for case in dict.fromkeys(window.case for window in windows):
        of_case = [window for window in windows if window.case == case]
        for state in states_of(window.state for window in of_case):
            fps = _figure(windows, case, state, "fps")
            base = _figure(windows, first, state, "fps") if state in states_of(_states(windows, first)) else None
            yield (
                case,
                f"{state}, {fps.count}",
                fps.text(1),
                f"{fps.median / base.median:.2f}" if base else "–",
                f"{_figure(windows, case, state, 'age_ms').text(1)} ms",
            )


def _states(windows: Sequence[Window], case: str) -> list[str]:
    return [window.state for window in windows if window.case == case]


def _figure(windows: Sequence[Window], case: str, state: str, name: str) -> Quartiles:
    of_state = [window for window in windows if (window.case, window.state) == (case, state)]
    return Quartiles.of([getattr(window, name) for window in of_state])


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    options = _options()
    if options.what == "threads":
        cases = thread_cases(options.batches[0])
    else:
        cases = batch_cases(options.batches, options.max_wait_s)
    windows: list[Window] = []
    with TemporaryDirectory() as name, MachineState(options.others) as machine:
        for _ in range(options.rounds):
            for case in cases:
                for window in measure(case, Path(name), options.windows, options.seconds, machine):
                    windows.append(window)
                    print(
                        f"{window.state:10} {window.case}: {window.fps:.1f}/s, {window.age_ms:.1f} ms", flush=True
                    )
    keep(options.output, origin("bench.throughput") | raw(options.what, windows), ("what",))
    print(*map(" | ".join, [COLUMNS, *as_rows(windows)]), sep="\n")


def raw(what: str, windows: Sequence[Window]) -> dict[str, Any]:
    """Return what the file keeps."""
    rows = [[round(each, 4) if isinstance(each, float) else each for each in astuple(one)] for one in windows]
    return {"what": what, "columns": [field.name for field in fields(Window)], "windows": rows}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.throughput", description=__doc__)
    parser.add_argument("what", choices=("threads", "batch"))
    parser.add_argument("--rounds", type=int, default=3, help="daemons of each case (default: 3)")
    parser.add_argument("--windows", type=int, default=4, help="of each daemon (default: 4)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a window (default: 3)")
    parser.add_argument("--others", type=float, default=OTHERS, help=f"processors that others may use ({OTHERS})")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--max-wait-s", type=float, default=0.0)
    parser.add_argument("--output", type=Path, default=Path("build/throughput.json"), metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
