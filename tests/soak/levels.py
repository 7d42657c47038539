"""Memory and descriptors of the hub, which must not grow."""

from statistics import median

import psutil

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


def _grown(values: tuple[float, ...]) -> float:
    quarter = len(values) // 4
    return median(values[-quarter:]) - median(values[:quarter])
