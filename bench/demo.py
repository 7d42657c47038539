"""What the demo takes: `python -m bench.demo`, on `configs/demo.yaml` with ports and folders of its own.

It is started with nothing cached and with all cached: seconds until a subscriber has the first prediction. Then it
runs at its 30 frames a second: milliseconds from capture to publication, with and without the forward pass, and
until a subscriber has the prediction; a window of seconds gives their medians. Each start and each window has the
state of the machine; the camera stands still while that is looked at.
"""

import argparse
import math
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import yaml

from bench.hub_load import Listener
from bench.quartiles import Quartiles, states_of
from bench.raw_results import keep, origin
from edged.client import Prediction
from edged.system.machine_state import LEFT_OUT, OTHERS, MachineState
from tests.conftest import ROOT
from tests.e2e.daemon import START_S, Daemon, run_edged
from tests.eventually import free_port

CONFIG = ROOT / "configs" / "demo.yaml"
COMPILE_S = 4 * START_S  # the longest that a start with nothing cached may take
STOP_S = 0.05  # until the hub and the worker have nothing more to do after the camera stands still
CATCH_UP_S = 0.5
CACHED, NOTHING_CACHED = "all cached", "nothing cached"
MILLISECONDS = ("total_ms", "rest_ms", "age_ms")


@dataclass(frozen=True)
class Start:
    """Seconds from the start of `edged run` until a subscriber had the first prediction."""

    state: str
    others: float
    cached: str
    seconds: float


@dataclass(frozen=True)
class Window:
    """Medians: from capture to publication, that without the forward pass, and until a subscriber has it."""

    state: str
    others: float
    frames: int
    total_ms: float
    rest_ms: float
    age_ms: float


@dataclass(frozen=True)
class Memory:
    """Resident megabytes of each process."""

    hub: float
    camera: float
    worker: float


def measure_start(folder: Path, programs: Path, cached: str, machine: MachineState) -> Start:
    """Start it, and end it when the machine has been looked at. `programs`: the folder of its caches."""
    cameras: list[psutil.Process] = []
    with ExitStack() as running:

        def start() -> float:
            daemon, _, seconds = running.enter_context(started(folder, programs))
            cameras.append(daemon.child("camera"))
            return seconds

        seconds, turn = machine.during(start, lambda: standing_still(*cameras))
    return Start(turn.state, turn.others, cached, seconds)


@contextmanager
def started(folder: Path, programs: Path) -> Iterator[tuple[Daemon, Listener, float]]:
    """Yield the demo, a subscriber, and the seconds until that one had the first prediction."""
    config = demo_config()
    with Listener(config["publish"]["address"]) as listener:
        begin = time.monotonic()
        with run_edged(folder, config=config, programs=programs) as daemon:
            listener.first(COMPILE_S)
            yield daemon, listener, time.monotonic() - begin


def demo_config() -> dict[str, Any]:
    """Return `configs/demo.yaml` on free ports."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text())
    addresses = {name: f"tcp://127.0.0.1:{free_port()}" for name in ("address", "replay")}
    return {**config, "node": "demo", "publish": addresses, "metrics": {"address": f"127.0.0.1:{free_port()}"}}


def measure_windows(
    daemon: Daemon, listener: Listener, count: int, seconds: float, machine: MachineState
) -> Iterator[Window]:
    """Listen for so many windows."""

    def look() -> list[tuple[float, Prediction]]:
        listener.skip(CATCH_UP_S)
        return listener.predictions(seconds)

    for _ in range(count):
        heard, turn = machine.during(look, lambda: standing_still(daemon.child("camera")))
        yield window(turn.state, turn.others, heard)


def window(state: str, others: float, heard: Sequence[tuple[float, Prediction]]) -> Window:
    """Return the medians of predictions, each with the time when it came, in seconds since 1970."""
    totals = [(each.seconds.total, each.seconds.total - each.seconds.forward) for _, each in heard]
    ages = [at - each.captured_at for at, each in heard]
    columns = ([total for total, _ in totals], [rest for _, rest in totals], ages)
    return Window(state, others, len(heard), *(1000 * median(each) if each else math.nan for each in columns))


@contextmanager
def standing_still(*cameras: psutil.Process) -> Iterator[None]:
    for camera in cameras:
        camera.suspend()
    time.sleep(STOP_S)
    try:
        yield
    finally:
        for camera in cameras:
            with suppress(psutil.NoSuchProcess):  # the hub replaces one that stands still for long
                camera.resume()


def memory_of(daemon: Daemon) -> Memory:
    """Return what its three processes have in memory."""
    hub = psutil.Process(daemon.process.pid)
    return Memory(
        *(each.memory_info().rss / 1e6 for each in (hub, daemon.child("camera"), daemon.child("worker")))
    )


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    options = _options()
    starts: list[Start] = []
    windows: list[Window] = []
    memory: list[Memory] = []
    with TemporaryDirectory() as name, MachineState(options.others) as machine:
        folder = Path(name)
        for number in range(options.cold):
            starts.append(measure_start(folder, folder / f"empty-{number}", NOTHING_CACHED, machine))
            print(_as_line(starts[-1]), flush=True)
        programs = folder / "programs"
        measure_start(folder, programs, NOTHING_CACHED, machine)
        for _ in range(options.starts):
            starts.append(measure_start(folder, programs, CACHED, machine))
            print(_as_line(starts[-1]), flush=True)
            with started(folder, programs) as (daemon, listener, _):
                for each in measure_windows(daemon, listener, options.windows, options.seconds, machine):
                    windows.append(each)
                    print(_as_line(each), flush=True)
                memory.append(memory_of(daemon))
    keep(options.output, origin("bench.demo") | raw(starts, windows, memory), ())
    print("\n".join(summary(starts, windows)))


def raw(starts: Sequence[Start], windows: Sequence[Window], memory: Sequence[Memory]) -> dict[str, Any]:
    """Return what the file keeps: of each kind its columns, and its rows."""
    found = {}
    for name, kind, each in (("starts", Start, starts), ("windows", Window, windows), ("memory", Memory, memory)):
        rows = [[round(value, 4) if isinstance(value, float) else value for value in astuple(one)] for one in each]
        found[name] = {"columns": [field.name for field in fields(kind)], "rows": rows}
    return found


def summary(starts: Sequence[Start], windows: Sequence[Window]) -> Iterator[str]:
    """A line for each figure and state, and how much was left out."""
    for state in states_of(each.state for each in windows):
        of_state = [each for each in windows if each.state == state]
        for name in MILLISECONDS:
            spread = Quartiles.of([getattr(each, name) for each in of_state])
            yield f"{state}: {name} {spread.text(2)}, {spread.count} windows"
    for cached in (CACHED, NOTHING_CACHED):
        of_kind = [each for each in starts if each.cached == cached]
        for state in states_of(each.state for each in of_kind):
            spread = Quartiles.of([each.seconds for each in of_kind if each.state == state])
            yield f"{state}: start with {cached} {spread.text(2)} s, {spread.count} starts"
    states = [each.state for each in starts] + [each.state for each in windows]
    gone = sum(state in LEFT_OUT for state in states)
    yield f"{gone} of {len(states)} starts and windows were left out"


def _as_line(each: Start | Window) -> str:
    if isinstance(each, Start):
        return f"{each.state:10} others {each.others:.2f}: start with {each.cached} {each.seconds:.2f} s"
    return (
        f"{each.state:10} others {each.others:.2f}: {each.frames} frames, total {each.total_ms:.2f} ms, "
        f"without forward {each.rest_ms:.2f} ms, heard after {each.age_ms:.2f} ms"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("--cold", type=int, default=3, help="starts with nothing cached (default: 3)")
    parser.add_argument("--starts", type=int, default=6, help="starts with all cached (default: 6)")
    parser.add_argument("--windows", type=int, default=4, help="of each of these (default: 4)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a window (default: 3)")
    parser.add_argument("--others", type=float, default=OTHERS, help=f"processors that others may use ({OTHERS})")
    parser.add_argument("--output", type=Path, default=Path("build/demo.json"), help="default: build/demo.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
