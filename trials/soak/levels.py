"""What is looked at while all is calm: memory and files of the hub, which must not grow, and one launches."""

from collections import Counter
from statistics import median

import psutil
from prometheus_client.parser import text_string_to_metric_families

MOST_MB = 6.0
MOST_FILES = 4
WARM_UP = 20  # looks, until everything has been used once
FEWEST = 40  # looks after that, to judge by


class Levels:
    """Looked at when all is calm. Each life of the hub counts by itself."""

    def __init__(self) -> None:
        self._looks: dict[int, list[tuple[float, int]]] = {}

    def look(self, pid: int) -> None:
        """Resident megabytes and open files of the process."""
        process = psutil.Process(pid)
        self._looks.setdefault(pid, []).append((process.memory_info().rss / 1e6, process.num_fds()))

    def growth(self) -> list[tuple[float, float]]:
        """Of every life that was long enough: megabytes and files, last quarter less first one."""
        lives = (looks[WARM_UP:] for looks in self._looks.values())
        return [
            (_grown(mb), _grown(files))
            for mb, files in (zip(*life, strict=True) for life in lives if len(life) >= FEWEST)
        ]

    def faults(self) -> list[str]:
        """What has grown beyond the bounds."""
        return [
            f"a hub grew by {mb:.1f} MB and {files:g} open files"
            for mb, files in self.growth()
            if mb > MOST_MB or files > MOST_FILES
        ]


class OneLaunches:
    """Jobs that one launch computed, and waits that were given up in them, over all lives of the hub.

    What a life counted after the last look at it is missing.
    """

    NAMES = ("edged_one_launch_jobs_total", "edged_one_launch_waits_given_up_total")

    def __init__(self) -> None:
        self._lives: dict[int, Counter[str]] = {}

    def look(self, pid: int, metrics: str) -> None:
        """Read the metrics of the hub with this process ID."""
        found = Counter[str]()
        for family in text_string_to_metric_families(metrics):
            for sample in family.samples:
                if sample.name in self.NAMES:
                    found[sample.name] += int(sample.value)
        self._lives[pid] = found

    def __str__(self) -> str:
        jobs, given_up = (sum(life[name] for life in self._lives.values()) for name in self.NAMES)
        return f"one launch: {jobs} jobs, {given_up} waits given up"


def _grown(values: tuple[float, ...]) -> float:
    quarter = len(values) // 4
    return median(values[-quarter:]) - median(values[:quarter])
