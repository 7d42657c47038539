"""What many cameras cost that deliver more than a worker answers: `python -m bench.cameras --help`.

The daemon is the real one, with a process for each camera, which decodes a video of 1920×1080 pixels at 25 a
second and scales it, or takes `--source`. For each number of cameras it prints the predictions a second, the age
of a prediction when it was published, the processor time of all cameras, and how even their shares are.
"""

import argparse
import json
import math
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import av
import numpy as np
import psutil

from bench.demo import standing_still
from bench.hub_load import Listener
from bench.quartiles import Quartiles, states_of
from edged.system.machine_state import OTHERS, MachineState
from edged.system.processor_use import processor_time_s
from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port

WIDTH, HEIGHT, FPS, PICTURES = 1920, 1080, 25, 250
WARM_S = 3.0
COLUMNS = "cameras | state, windows | predicted/s | age ms, p50 | p95 | cameras' CPU | fewest ÷ most of one camera"


@dataclass(frozen=True)
class Window:
    """`ages_ms`: from capture to publication. `cpu`: processors that all camera processes took together."""

    cameras: int
    fps: float
    ages_ms: Sequence[float]
    cpu: float
    evenness: float
    state: str = ""

    def __str__(self) -> str:
        ages = sorted(self.ages_ms) or [math.nan]
        return (
            f"{self.cameras} cameras: {self.fps:.1f}/s, {ages[len(ages) // 2]:.0f} ms (p95 "
            f"{ages[95 * len(ages) // 100]:.0f}), cameras' CPU {self.cpu:.2f}, evenness {self.evenness:.2f}"
        )


def write_video(path: Path) -> None:
    """Write squares that move over noise, by x264."""
    chance = np.random.default_rng(0)
    scene = chance.integers(0, 255, (HEIGHT // 8, WIDTH // 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "crf": "26", "g": "50"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(PICTURES):
            pixels = scene.copy()
            pixels[300:500, 6 * number : 6 * number + 200] = 255 - number % 100
            file.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        file.mux(stream.encode(None))


@contextmanager
def started(folder: Path, source: dict[str, Any], model: dict[str, Any], cameras: int) -> Iterator[Daemon]:
    config: dict[str, Any] = {
        "node": "test",
        "cameras": {f"c{number}": source for number in range(cameras)},
        "model": model,
        "workers": [{"device": "cpu"}],
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
    }
    with run_edged(folder, config=config) as daemon:
        yield daemon


def measure(daemon: Daemon, cameras: int, options: argparse.Namespace) -> Iterator[Window]:
    """Yield the windows of a daemon."""
    processes = [daemon.child("camera", f"c{number}") for number in range(cameras)]
    with MachineState(options.others) as machine, Listener(daemon.address) as listener:

        def look() -> Window:
            listener.skip(WARM_S)
            begin_s = spent_s(processes)
            heard = [prediction for _, prediction in listener.predictions(options.seconds)]
            taken_s = spent_s(processes) - begin_s
            shares = Counter(each.camera for each in heard)
            return Window(
                cameras,
                len(heard) / options.seconds,
                [1000 * each.seconds.total for each in heard],
                taken_s / options.seconds,
                min(shares[f"c{number}"] for number in range(cameras)) / max([1, *shares.values()]),
            )

        for _ in range(options.windows):
            window, turn = machine.during(look, lambda: standing_still(*processes))
            yield replace(window, state=turn.state)


def spent_s(processes: Sequence[psutil.Process]) -> float:
    """Return the processor time of all of them."""
    return sum(processor_time_s(process.pid) for process in processes)


def as_rows(windows: Sequence[Window]) -> Iterator[tuple[str, ...]]:
    """Return a row of a table for each number of cameras and state."""
    for cameras in dict.fromkeys(window.cameras for window in windows):
        for state in states_of(window.state for window in windows if window.cameras == cameras):
            found = [window for window in windows if (window.cameras, window.state) == (cameras, state)]
            ages = sorted(age for window in found for age in window.ages_ms)
            yield (
                str(cameras),
                f"{state}, {len(found)}",
                Quartiles.of([window.fps for window in found]).text(1),
                f"{ages[len(ages) // 2]:.1f}",
                f"{ages[95 * len(ages) // 100]:.1f}",
                Quartiles.of([window.cpu for window in found]).text(2),
                f"{min(window.evenness for window in found):.2f}",
            )


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    options = _options()
    windows: list[Window] = []
    with TemporaryDirectory() as name:
        if not (source := options.source):
            write_video(video := Path(name, "street.mp4"))
            source = {"source": str(video), "pace": "realtime", "at_end": "loop"}
        for _ in range(options.rounds):
            for cameras in options.cameras:
                with started(Path(name), source, options.model, cameras) as daemon:
                    for window in measure(daemon, cameras, options):
                        windows.append(window)
                        print(f"{window.state:10} {window}", flush=True)
    print(COLUMNS, *map(" | ".join, as_rows(windows)), sep="\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cameras", description=__doc__)
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument(
        "--model", type=json.loads, default={"name": "resnet18"}, help="section of the config, JSON"
    )
    parser.add_argument(
        "--source", type=json.loads, help="section of each camera, JSON (default: a video of 1920×1080)"
    )
    parser.add_argument("--rounds", type=int, default=2, help="daemons of each number (default: 2)")
    parser.add_argument("--windows", type=int, default=3, help="of each daemon (default: 3)")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a window (default: 5)")
    parser.add_argument("--others", type=float, default=OTHERS, help=f"processors that others may use ({OTHERS})")
    return parser.parse_args()


if __name__ == "__main__":
    main()
