"""Frequencies: processors by cpufreq's policies (kHz), GPUs and memory by devfreq (Hz).

Heat shows in the limit: the kernel lowers the highest frequency that is allowed (`scaling_max_freq`, `max_freq`).
The frequency itself is low too where there is nothing to do.
"""

from collections.abc import Callable
from pathlib import Path

from edged.host.files import in_order, number, text
from edged.messages import Frequency

KILOHERTZ = 1000
MOST = 10**12  # beyond it a file is damaged


def frequencies(root: Path) -> dict[str, Frequency]:
    """By domain: `policy0`, `2d000000.gpu`. What is not there in full is left out."""
    found: dict[str, Frequency] = {}
    for pattern, read in (("devices/system/cpu/cpufreq/policy*", _policy), ("class/devfreq/*", _devfreq)):
        found |= _all(root, pattern, read)
    return found


def _all(root: Path, pattern: str, read: Callable[[Path], Frequency | None]) -> dict[str, Frequency]:
    read_by_name = {folder.name[:64]: read(folder) for folder in in_order(root.glob(pattern))}
    return {name: frequency for name, frequency in read_by_name.items() if frequency}


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
        or not 0 <= min(now, limit, maximum) <= max(now, limit, maximum) < MOST
    ):
        return None
    return Frequency(now=now * unit, limit=limit * unit, maximum=maximum * unit)
