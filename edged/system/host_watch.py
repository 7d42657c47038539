"""Temperatures and frequencies of this machine, read in a thread: the driver of a sensor may block for ever.

Frequencies: cpufreq policies (kHz), GPUs and memory by devfreq (Hz). Heat shows in the limit: the kernel lowers
the highest allowed frequency (`scaling_max_freq`, `max_freq`); the current one is low as well when there is
nothing to do. Temperatures: thermal zones, and `tempN_input` of hwmon by name and label, in thousandths of a
degree (Linux, Documentation/driver-api/thermal/sysfs-api.rst and Documentation/hwmon/sysfs-interface.rst).
"""

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from edged.messages import Frequency, HostState
from edged.messages.worker import MOST

LONGEST = 64  # characters of a name
KILOHERTZ = 1000
MOST_FREQUENCIES = 10**12  # above it a file is damaged
BELIEVED = range(-100_000, 250_001)  # m°C; a sensor that is off or broken shows −274000, or 2147483
READ_S = 5.0  # between two readings


def text(path: Path) -> str:
    """Return a file's content; empty if it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):  # invalid UTF-8 is a ValueError
        return ""


def number(path: Path) -> int | None:
    """Return a file's integer, or None if it has none."""
    try:
        return int(text(path))
    except ValueError:
        return None


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Sort paths by number: 2 before 10."""
    return sorted(paths, key=lambda path: [(int(n or -1), w) for n, w in re.findall(r"(\d+)|(\D+)", str(path))])


def new_name(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, shortened, with a number appended if the name is in use: `nvme`, `nvme-2`."""
    names, name, count = set(taken), wanted[:LONGEST], 1
    while name in names:
        count += 1
        name = f"{wanted[: LONGEST - 4]}-{count}"
    return name


def frequencies(root: Path) -> dict[str, Frequency]:
    """Read frequencies by domain: `policy0`, `2d000000.gpu`. Domains with missing files are left out."""
    found: dict[str, Frequency] = {}
    for pattern, read in (("devices/system/cpu/cpufreq/policy*", _policy), ("class/devfreq/*", _devfreq)):
        by_name = {folder.name[:64]: read(folder) for folder in in_order(root.glob(pattern))}
        found |= {name: frequency for name, frequency in by_name.items() if frequency}
    return found


def _policy(policy: Path) -> Frequency | None:
    names = ("scaling_cur_freq", "scaling_max_freq", "cpuinfo_max_freq")
    now, limit, maximum = (number(policy / name) for name in names)
    return _frequency(now, limit, maximum, unit=KILOHERTZ)


def _devfreq(device: Path) -> Frequency | None:
    limit = number(device / "max_freq")
    known = [int(word) for word in text(device / "available_frequencies").split() if word.isdecimal()]
    return _frequency(number(device / "cur_freq"), limit, max(known, default=limit))


def _frequency(now: int | None, limit: int | None, maximum: int | None, unit: int = 1) -> Frequency | None:
    if (
        now is None
        or not (limit and maximum)
        or not 0 <= min(now, limit, maximum) <= max(now, limit, maximum) < MOST_FREQUENCIES
    ):
        return None
    return Frequency(now=now * unit, limit=limit * unit, maximum=maximum * unit)


def temperatures(root: Path) -> dict[str, float]:
    """Read temperatures in °C by sensor, thermal zones first: `cpu-thermal`, `scpi_sensors.SENSOR_TEMP_SOC`."""
    found: dict[str, float] = {}
    for name, path in (*_zones(root), *_hwmon(root)):
        millidegrees = number(path)
        if millidegrees is not None and millidegrees in BELIEVED:
            found[new_name(name, found)] = millidegrees / 1000
    return found


def _zones(root: Path) -> Iterator[tuple[str, Path]]:
    for zone in in_order((root / "class/thermal").glob("thermal_zone*")):
        yield text(zone / "type") or zone.name, zone / "temp"


def _hwmon(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield sensors that do not repeat a thermal zone (`cpu_thermal` is `cpu-thermal`)."""
    zones = {name.replace("-", "_") for name, _ in _zones(root)}
    for path in in_order((root / "class/hwmon").glob("hwmon*/temp*_input")):
        device = text(path.with_name("name")) or path.parent.name
        channel = path.name.removesuffix("_input")
        if device not in zones:
            yield f"{device}.{text(path.with_name(f'{channel}_label')) or channel}", path


def start_thread(name: Literal["host"], run: Callable[[], None]) -> threading.Thread:
    """Run in a daemon thread of that name."""
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


class HostWatch:
    """Reads at once, and then every `every_s`. A machine without sensors produces no state."""

    def __init__(
        self,
        root: Path = Path("/sys"),
        every_s: float = READ_S,
        start: Callable[[Literal["host"], Callable[[], None]], threading.Thread] = start_thread,
    ) -> None:
        """`start`: starts the thread; a caller can pass its own, to supervise it."""
        self._root = root
        self._every_s = every_s
        self._news: HostState | None = None
        self._stopped = threading.Event()
        start("host", self._run)

    def pop_state(self) -> HostState | None:
        """Return the newest state, once; None if nothing was read since the last call."""
        news, self._news = self._news, None
        return news

    def stop(self) -> None:
        """Stop reading; do not wait for a driver that blocks."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(OSError):  # a device may disappear while its files are listed
                state = read(self._root)
                self._news = state if state.celsius or state.frequencies else None
            self._stopped.wait(self._every_s)


def read(root: Path) -> HostState:
    """Return the first sensors and domains below `root`, up to `MOST`. Raises OSError."""
    return HostState(
        celsius=dict(islice(temperatures(root).items(), MOST)),
        frequencies=dict(islice(frequencies(root).items(), MOST)),
    )
