"""What one open `edged view` costs: `python -m bench.view_cost`.

One daemon whose camera waits for its turn, so that its worker always has a next frame. Its snapshots are switched
on and off, and a view with one browser comes and goes, in turn: what counts is the median of the ratios of
neighbours. The view runs on the same host as the daemon, which is the worst case; in place of a browser, which
would run elsewhere, a thread here hears the events and fetches each picture.
"""

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from edged.camera.sources.synthetic import draw_pictures
from edged.client import subscribe
from tests.camera.pictures import write_picture
from tests.e2e.daemon import START_S, Daemon, run_edged
from tests.eventually import free_port, in_background

MODEL = {"name": "resnet50", "size": 120}
PICTURES = 60
SIZE = (640, 480)
WARM_S = 2.0


@dataclass(frozen=True)
class Round:
    """Frames a second; processor time of the view, and of the daemon with its children, by second."""

    fps: float
    view_cpu: float
    daemon_cpu: float

    @property
    def cpu_each(self) -> float:
        """Seconds of the processor by frame, the view's among them."""
        return (self.view_cpu + self.daemon_cpu) / self.fps


class Setting:
    """The daemon, and what is open."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._listen = f"127.0.0.1:{free_port()}"

    def closed(self, seconds: float) -> Round:
        """No snapshots, no view."""
        self._take_snapshots(None)
        time.sleep(WARM_S)
        return self._look(seconds, None)

    def opened(self, seconds: float) -> Round:
        """Snapshots as they are by default, and one browser."""
        self._take_snapshots({})
        command = [sys.executable, "-m", "edged", "view", self._daemon.address, "--listen", self._listen]
        with ending(subprocess.Popen(command, stdout=subprocess.PIPE)) as view:
            assert view.stdout
            view.stdout.readline()
            with in_background(partial(browse, self._listen)):
                time.sleep(WARM_S)
                return self._look(seconds, psutil.Process(view.pid))

    def _take_snapshots(self, snapshot: dict[str, Any] | None) -> None:
        config = self._daemon.config
        cameras = {"folder": {**config["cameras"]["folder"], "snapshot": snapshot}}
        (self._daemon.folder / "edged.yaml").write_text(json.dumps({**config, "cameras": cameras}))
        self._daemon.process.send_signal(signal.SIGHUP)

    def _look(self, seconds: float, view: psutil.Process | None) -> Round:
        daemon = [psutil.Process(self._daemon.process.pid), *self._daemon.children()]
        before, view_before, daemon_before, start = (
            self._predictions(),
            spent(view),
            spent(*daemon),
            time.monotonic(),
        )
        time.sleep(seconds)
        took_s = time.monotonic() - start
        count = self._predictions() - before
        return Round(
            count / took_s, (spent(view) - view_before) / took_s, (spent(*daemon) - daemon_before) / took_s
        )

    def _predictions(self) -> float:
        lines = self._daemon.metrics().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("edged_predictions_total{"))


def spent(*processes: psutil.Process | None) -> float:
    """Seconds of the processor."""
    times = [process.cpu_times() for process in processes if process]
    return float(sum(each.user + each.system for each in times))


def browse(listen: str, stopped: threading.Event) -> None:
    """Hear the events, and fetch each picture."""
    events, pictures = HTTPConnection(listen, timeout=START_S), HTTPConnection(listen, timeout=START_S)
    events.request("GET", "/events")
    answer, kind, fetched = events.getresponse(), b"", 0
    while not stopped.is_set():
        line = answer.readline()
        if line.startswith(b"event: "):
            kind = line.removeprefix(b"event: ").strip()
        elif kind == b"picture" and line.startswith(b"data: "):
            pictures.request("GET", json.loads(line.removeprefix(b"data: "))["url"])
            fetched += pictures.getresponse().read().startswith(b"\xff\xd8")
    assert fetched
    events.close()
    pictures.close()


@contextmanager
def ending(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """Killed at the end."""
    with process:
        try:
            yield process
        finally:
            process.kill()


def draw_into(folder: Path, seed: int, count: int) -> None:
    """Pictures of the synthetic camera, as files."""
    for number, picture in enumerate(islice(draw_pictures(seed, *SIZE, 30), count)):
        write_picture(folder / f"{number}.jpg", picture.pixels)


@contextmanager
def warm_daemon(folder: Path, cameras: dict[str, Any], model: Mapping[str, Any]) -> Iterator[Daemon]:
    """One that has answered a frame: its kernels may have had to be compiled."""
    config: dict[str, Any] = {
        "node": "test",
        "cameras": cameras,
        "model": model,
        "workers": [{"device": "cpu"}],
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
    }
    with run_edged(folder, config=config) as daemon:
        next(subscribe(daemon.address, timeout_s=10 * START_S))
        yield daemon


@contextmanager
def saturated(folder: Path) -> Iterator[Daemon]:
    """A daemon that answers as many frames as it can."""
    draw_into(folder / "pictures", 1, PICTURES)
    cameras = {"folder": {"source": str(folder / "pictures"), "pace": "fast", "at_end": "loop"}}
    with warm_daemon(folder, cameras, MODEL) as daemon:
        yield daemon


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    ratios, efforts, view_cpu = [], [], []
    with ExitStack() as resources:
        folder = Path(resources.enter_context(TemporaryDirectory()))
        setting = Setting(resources.enter_context(saturated(folder)))
        for number in range(options.rounds):
            order = (setting.closed, setting.opened)[:: 1 if number % 2 else -1]
            found = {look.__name__: look(options.seconds) for look in order}
            closed, opened = found["closed"], found["opened"]
            ratios.append(opened.fps / closed.fps)
            efforts.append(opened.cpu_each / closed.cpu_each)
            view_cpu.append(opened.view_cpu)
            print(
                f"closed {closed.fps:.1f}/s, {1000 * closed.cpu_each:.2f} ms of the processor each; "
                f"open {opened.fps:.1f}/s, {1000 * opened.cpu_each:.2f} ms",
                flush=True,
            )
    for what, values in {"throughput": ratios, "processor time by frame": efforts}.items():
        print(f"{what} with a view open: {median(values):.3f} ({min(values):.3f} to {max(values):.3f})")
    print(f"the view itself takes {100 * median(view_cpu):.1f} % of a processor")


if __name__ == "__main__":
    main()
