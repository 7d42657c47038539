"""Rails: measured power supplies, each read from a file with its energy or power; and how to permit reading it."""

import grp
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edged.energy.bounded import bounded

RULES = "/etc/udev/rules.d/71-edged-energy.rules"
RAPL = ("energy_uj", "max_energy_range_uj")  # without the second file a wrap looks like a reset

MICRO = 1e-6
MILLI = 1e-3
ALL_ONES = {2**32 - 1, 2**63 - 1, 2**64 - 1}
LARGEST_BYTES = 64  # longest file with a number, in bytes


def remedies_for(files: Sequence[Path]) -> tuple[str, str]:
    """Return shell commands that permit reading; all zones of RAPL share them.

    `files`: of one device in /sys/class.
    """
    folder, group = files[0].parent, _group()
    subsystem, names = folder.parent.name, [file.name for file in files]
    if subsystem == "powercap":
        paths, which = [f"{folder.parent}/*/{name}" for name in RAPL], f'TEST=="{RAPL[0]}"'
        names = list(RAPL)
    else:
        paths, which = list(map(str, files)), f'ATTR{{name}}=="{_name_of(folder)}"'
    now = f"until the next start: sudo chgrp {group} {' '.join(paths)} && sudo chmod g+r {' '.join(paths)}"
    return now, (
        f"permanently: echo '{rule_for(subsystem, which, names, group)}' | sudo tee -a {RULES} && "
        f"sudo udevadm control --reload && sudo udevadm trigger --subsystem-match={subsystem}"
    )


def rule_for(subsystem: str, which: str, files: Sequence[str], group: str) -> str:
    """Return a udev rule: `group` may read these `files` of `which` devices, whenever their driver is loaded."""
    paths = " ".join(f"/sys%p/{file}" for file in files)
    return (
        f'SUBSYSTEM=="{subsystem}", {which}, ACTION!="remove", '
        f'RUN+="/bin/chgrp {group} {paths}", RUN+="/bin/chmod g+r {paths}"'
    )


def _name_of(folder: Path) -> str:
    try:
        return (folder / "name").read_text().strip()
    except OSError:
        return "*"


def _group() -> str:
    try:
        return grp.getgrgid(os.getegid()).gr_name
    except KeyError:
        return str(os.getegid())


@dataclass(frozen=True)
class Rail:
    """A supply, and the file with its number.

    `gives`: joules since a moment unknown, or watts. `scale`: joules or watts per unit of the file. `times`: a
    second file whose number multiplies the first (mV × mA). `range_joules`: the value at which a counter starts
    again from zero, None for one that never does in practice. `overlaps`: its joules are part of another rail's,
    or hold those of others (a core's in its package's; a package's in the platform's).
    """

    name: str
    path: Path
    range_joules: float | None = None
    overlaps: bool = False
    gives: Literal["joules", "watts"] = "joules"
    scale: float = MICRO
    times: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Return all files that must be readable."""
        if self.times:
            return self.path, self.times
        range_file = self.path.with_name("max_energy_range_uj")
        return (self.path, range_file) if range_file.exists() else (self.path,)

    def read(self) -> float:
        """Return joules, or watts, which are negative for a battery that charges and for noise around zero.

        Raises OSError or ValueError if a file contains no number, and may block for ever.
        """
        number = _number_in(self.path)
        if self.times:
            number *= _number_in(self.times)
        if number < 0 and self.gives == "joules":
            raise ValueError(f"a counter that is negative: {number}")
        return number * self.scale


@dataclass(frozen=True)
class Unreadable:
    """A rail that exists but cannot be read, and shell commands that help."""

    name: str
    path: Path
    reason: str
    remedies: tuple[str, ...]


def probe(rail: Rail) -> Rail | Unreadable:
    """Return the rail itself if a reading succeeds soon, else why not."""
    try:
        bounded(rail.read)
    except PermissionError:
        return Unreadable(rail.name, rail.path, "permission denied", remedies_for(rail.files))
    except (OSError, ValueError) as error:
        return Unreadable(rail.name, rail.path, f"no reading ({error})", ("see the kernel's log for its driver",))
    return rail


def text_of(path: Path) -> str:
    """Return the content of a small sysfs file; empty if there is no such file, or it does not answer."""
    try:
        return bounded(path.read_text).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _number_in(path: Path) -> int:
    """Read the number in a file. It is opened each time: a reloaded driver has new files of the same names.

    A bus whose device does not answer reads as ones: 4,295 W for minutes otherwise. Raises ValueError for that.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        number = int(os.read(descriptor, LARGEST_BYTES))
    finally:
        os.close(descriptor)
    if number in ALL_ONES:
        raise ValueError(f"all bits are set, {number}: the sensor does not answer")
    return number
