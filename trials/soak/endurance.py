"""`python -m trials.soak.endurance --minutes 60`: 240 frames a second, with bridges and view, undisturbed.

Prints memory, open files and threads of every process, at the start and at the end; exit code 1 if one has grown.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from edged.system.process_end import ON_REQUEST
from tests.e2e.broker import mosquitto
from tests.e2e.daemon import Daemon, config_in, conserves, run_edged
from tests.eventually import free_port
from tests.nats_server import nats_server
from trials.soak.levels import MOST_FILES, MOST_MB

CAMERAS, FPS = 8, 30
LOOK_EVERY_S = 10.0
WARM_UP_S = 120.0
SHARE = 4  # of the looks at the start and at the end that are compared
MOST_THREADS = 2


@dataclass(frozen=True)
class Look:
    """What a process holds: resident megabytes, open files, threads."""

    mb: float
    files: int
    threads: int


class Endurance:
    """Looks at the processes of a daemon, and of those that run beside it, by their names."""

    def __init__(self, daemon: Daemon, beside: dict[str, "subprocess.Popen[bytes]"]) -> None:
        self._daemon, self._beside = daemon, beside
        self._looks: defaultdict[tuple[str, int], list[Look]] = defaultdict(list)

    def look(self) -> None:
        """Take one look at all."""
        processes = {name: psutil.Process(process.pid) for name, process in self._beside.items()}
        for name, process in [("hub", psutil.Process(self._daemon.process.pid)), *processes.items()]:
            self._take(name, process)
        for child in self._daemon.children():
            if verb := _verb(child):
                self._take(verb, child)

    def _take(self, name: str, process: psutil.Process) -> None:
        look = Look(process.memory_info().rss / 1e6, process.num_fds(), process.num_threads())
        self._looks[name, process.pid].append(look)

    def table(self) -> str:
        """Return a line for each process: the median of its first looks, and of its last."""
        head = f"{'process':20} {'MB':>14} {'open files':>14} {'threads':>12}"
        lines = [
            f"{name:20} {a.mb:6.1f} {b.mb:7.1f} {a.files:7} {b.files:6} {a.threads:6} {b.threads:5}"
            for name, a, b in self._ends()
        ]
        return "\n".join([head, *lines])

    def complaints(self) -> list[str]:
        """Return what has grown beyond the bounds, and which process was started again."""
        grown = [
            f"{name} has grown: {start} → {end}"
            for name, start, end in self._ends()
            if end.mb - start.mb > MOST_MB
            or end.files - start.files > MOST_FILES
            or end.threads - start.threads > MOST_THREADS
        ]
        most = max(map(len, self._looks.values()))
        short = [name for (name, _), looks in self._looks.items() if len(looks) < most]
        lost = [f"{name} did not live from the start to the end" for name in short]
        return grown + lost

    def _ends(self) -> Iterator[tuple[str, Look, Look]]:
        for (name, _), looks in sorted(self._looks.items()):
            quarter = max(1, len(looks) // SHARE)
            yield name, _median(looks[:quarter]), _median(looks[-quarter:])


def _median(looks: list[Look]) -> Look:
    mb, files, threads = zip(*((look.mb, look.files, look.threads) for look in looks), strict=True)
    return Look(median(mb), round(median(files)), round(median(threads)))


def _verb(process: psutil.Process) -> str:
    """Return the verb of an edged process, and which one: `camera cam3`; empty for compilers and spare workers."""
    words = process.cmdline()
    is_named = "edged" in words and ON_REQUEST not in words
    return " ".join(words[words.index("edged") + 1 :][:2]) if is_named else ""


def sections(mqtt: int, nats: int) -> dict[str, Any]:
    """Return a config's sections: cameras with snapshots and states, and both bridges."""
    cameras = {
        f"cam{number}": {
            "source": "synthetic:digits",
            "size": [160, 120],
            "fps": FPS,
            "seed": number,
            "snapshot": {},
        }
        for number in range(CAMERAS)
    }
    labels = [str(number) for number in range(5)]
    states = {name: {"labels": labels, "after": 2, "unknown_below": 0.0} for name in cameras}
    return {
        "cameras": cameras,
        "states": states,
        "mqtt": {"address": f"mqtt://127.0.0.1:{mqtt}"},
        "nats": {"servers": [f"nats://127.0.0.1:{nats}"], "max_megabytes": 64},
    }


@contextmanager
def beside(daemon: Daemon) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
    """Run both bridges, the view and a subscriber beside the daemon; their output is in its folder."""
    config = str(daemon.folder / "edged.yaml")
    commands = {
        "bridge mqtt": ["bridge", "mqtt", config],
        "bridge nats": ["bridge", "nats", config],
        "view": ["view", daemon.address, "--listen", f"127.0.0.1:{free_port()}"],
        "subscribe": ["subscribe", daemon.address],
    }
    with ExitStack() as ends:
        processes = {}
        for name, words in commands.items():
            output = ends.enter_context((daemon.folder / f"{name}.log").open("wb"))
            command = [sys.executable, "-m", "edged", *words]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=output)
            ends.callback(process.kill)
            processes[name] = process
        yield processes


def endure(folder: Path, seconds: float) -> list[str]:
    """Run it all for so long; print what was seen, and return the complaints."""
    mqtt, nats = free_port(), free_port()
    with mosquitto(folder, mqtt, "allow_anonymous true"), nats_server(folder, nats):
        config = config_in(folder, workers=[{"device": "auto"}], **sections(mqtt, nats))
        with run_edged(folder, config=config) as daemon, beside(daemon) as processes:
            daemon.first(CAMERAS)
            end = time.monotonic() + seconds
            time.sleep(min(WARM_UP_S, seconds / 4))
            endurance = Endurance(daemon, processes)
            while time.monotonic() < end:
                endurance.look()
                time.sleep(min(LOOK_EVERY_S, max(0.0, end - time.monotonic())))
            ended = [f"{name} has ended" for name, process in processes.items() if process.poll() is not None]
            summary = daemon.stop(signal.SIGTERM)
    print(endurance.table())
    print(f"{summary['predictions']} predictions of {summary['captured']} frames; dropped: {summary['dropped']}")
    return endurance.complaints() + ended + ([] if conserves(summary) else ["frames are missing in the summary"])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.soak.endurance", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        complaints = endure(Path(folder), 60 * arguments.minutes)
    print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
