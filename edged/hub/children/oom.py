"""Whether the kernel has killed a process of this service for want of memory: SIGKILL alone does not say so."""

from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def own_group() -> Path:
    """The folder of this process's control group (version 2); of all where it is in none."""
    own = Path("/proc/self/cgroup")
    groups = own.read_text().splitlines() if own.exists() else []
    return next((GROUPS / line[len("0::/") :] for line in groups if line.startswith("0::/")), GROUPS)


class OomKills:
    """The kernel's count of them in one control group; where there is none, nothing is ever known of any."""

    def __init__(self, group: Path) -> None:
        """`group`: the folder with `memory.events`."""
        self._events = group / "memory.events"
        self._claimed = self._count()

    def claim(self) -> bool:
        """Whether there was one more than have been claimed. It is counted before the process ends."""
        if self._count() <= self._claimed:
            return False
        self._claimed += 1
        return True

    def _count(self) -> int:
        try:
            events = dict(line.split() for line in self._events.read_text().splitlines())
        except OSError:
            return 0
        return int(events.get("oom_kill", 0))
