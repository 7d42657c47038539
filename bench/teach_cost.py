"""What `edged teach` costs a daemon that runs: `python -m bench.teach_cost`.

Nothing, a recording of 30 crops a second, a version in the shadow and one that answers take turns, in an order
that rotates: what counts is the median of the ratios to nothing in the same round. `--fps 30`: cameras at that
rate; without, as many frames as the worker takes.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from bench.view_cost import draw_into, spent, warm_daemon
from tests.e2e.daemon import START_S, Daemon
from tests.eventually import eventually

CAMERAS = ("one", "two")  # a label each, so that no picture lies under both
PICTURES = 1000
WARM_S = 1.0
BEGINS = "edged teach has started: "  # the daemon says so


@dataclass(frozen=True)
class Round:
    """Frames a second; seconds of the daemon's processors, and of the forward pass, by frame."""

    fps: float
    cpu_s: float
    forward_s: float

    def __str__(self) -> str:
        return f"{self.fps:.1f}/s, {1000 * self.cpu_s:.2f} ms, forward {1000 * self.forward_s:.2f} ms"


class Teaching:
    """The daemon, and `edged teach` beside it."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._environment = {**os.environ, "XDG_STATE_HOME": str(daemon.folder)}

    def teach(self, action: str, *options: str) -> None:
        """To its end."""
        subprocess.run(
            self._command(action, *options), env=self._environment, stdout=subprocess.DEVNULL, check=True
        )

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """`still`, `recording`, `shadow` or `taught`, until the block ends."""
        match what:
            case "recording":
                with self._beside("record", "--camera", CAMERAS[0], "--label", "more", "--every", "0.034"):
                    yield
                self.teach("--forget", "more")
            case "shadow":
                with self._beside("shadow"):
                    yield
            case "taught":
                self.teach("promote", "--force")
                yield
                self.teach("--rollback")
            case _:
                yield

    @contextmanager
    def _beside(self, action: str, *options: str) -> Iterator[None]:
        begun, output = self._daemon.log().count(BEGINS), subprocess.DEVNULL
        with subprocess.Popen(self._command(action, *options), env=self._environment, stdout=output) as process:
            try:
                eventually(lambda: self._daemon.log().count(BEGINS) > begun, START_S)
                yield
            finally:
                process.send_signal(signal.SIGINT)

    def look(self, what: str, seconds: float) -> Round:
        """What it takes meanwhile."""
        with self.doing(what):
            time.sleep(WARM_S)
            daemon = [psutil.Process(self._daemon.process.pid), *self._daemon.children()]
            figures, cpu_s, begun = self._figures(), spent(*daemon), time.monotonic()
            time.sleep(seconds)
            after, used_s, took_s = self._figures(), spent(*daemon) - cpu_s, time.monotonic() - begun
        frames = after["count"] - figures["count"]
        return Round(frames / took_s, used_s / frames, (after["sum"] - figures["sum"]) / frames)

    def _figures(self) -> dict[str, float]:
        """How many frames were answered, and the seconds of their forward pass."""
        lines = [line for line in self._daemon.metrics().splitlines() if 'stage="forward"' in line]
        return {name: total(lines, f"edged_stage_seconds_{name}{{") for name in ("sum", "count")}

    def _command(self, action: str, *options: str) -> list[str]:
        return [sys.executable, "-m", "edged", "teach", action, str(self._daemon.folder / "edged.yaml"), *options]


def total(lines: list[str], series: str) -> float:
    """Of all that begin so."""
    return sum(float(line.split()[-1]) for line in lines if line.startswith(series))


@contextmanager
def pipeline(folder: Path, model: Mapping[str, Any], fps: float | None) -> Iterator[Daemon]:
    """Two cameras whose pictures are files."""
    for seed, name in enumerate(CAMERAS):
        (folder / name).mkdir()
        draw_into(folder / name, seed, PICTURES)
    pace: dict[str, Any] = {"pace": "fast"} if fps is None else {"pace": "realtime", "fps": fps / len(CAMERAS)}
    cameras = {name: {"source": str(folder / name), "at_end": "loop", **pace} for name in CAMERAS}
    with warm_daemon(folder, cameras, model) as daemon:
        yield daemon


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", default="digits", help="a named one (default: digits)")
    parser.add_argument("--fps", type=float, help="of all cameras (default: as many as the worker takes)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    model = {"name": options.model} if options.model == "digits" else {"name": options.model, "size": 120}
    with TemporaryDirectory() as folder, pipeline(Path(folder), model, options.fps) as daemon:
        teaching = Teaching(daemon)
        for name in CAMERAS:
            teaching.teach("record", "--camera", name, "--label", name, "--count", "20")
        teaching.teach("train")
        rounds = [turn(teaching, number, options.seconds) for number in range(options.rounds)]
    for what in ("recording", "shadow", "taught"):
        print(f"{what}: {', '.join(compared(rounds, what))}")


def turn(teaching: Teaching, number: int, seconds: float) -> dict[str, Round]:
    """Each once."""
    situations = ["still", "recording", "shadow", "taught"]
    first = number % len(situations)
    found = {what: teaching.look(what, seconds) for what in situations[first:] + situations[:first]}
    print("; ".join(f"{what} {each}" for what, each in found.items()), flush=True)
    return found


def compared(rounds: list[dict[str, Round]], what: str) -> Iterator[str]:
    """Each figure as a ratio: median, least and most."""
    names = {"fps": "frames a second", "cpu_s": "processor by frame", "forward_s": "forward pass"}
    for figure, name in names.items():
        ratios = [getattr(each[what], figure) / getattr(each["still"], figure) for each in rounds]
        yield f"{name} {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


if __name__ == "__main__":
    main()
