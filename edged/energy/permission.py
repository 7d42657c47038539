"""How to let this user read a counter that only root may: now, and from each start of the machine on."""

import grp
import os
from collections.abc import Sequence
from pathlib import Path

RULES = "/etc/udev/rules.d/71-edged-energy.rules"
RAPL = ("energy_uj", "max_energy_range_uj")  # without the second one a wrap looks like a reset


def remedies_for(files: Sequence[Path]) -> tuple[str, str]:
    """Lines for a shell; the same ones for all zones of RAPL. `files`: of one device in /sys/class."""
    folder, group = files[0].parent, _group()
    subsystem, names = folder.parent.name, [file.name for file in files]
    if subsystem == "powercap":
        paths, which = [f"{folder.parent}/*/{name}" for name in RAPL], f'TEST=="{RAPL[0]}"'
        names = list(RAPL)
    else:
        paths, which = list(map(str, files)), f'ATTR{{name}}=="{_name_of(folder)}"'
    now = f"until the next start: sudo chgrp {group} {' '.join(paths)} && sudo chmod g+r {' '.join(paths)}"
    return now, (
        f"for good: echo '{rule_for(subsystem, which, names, group)}' | sudo tee -a {RULES} && "
        f"sudo udevadm control --reload && sudo udevadm trigger --subsystem-match={subsystem}"
    )


def rule_for(subsystem: str, which: str, files: Sequence[str], group: str) -> str:
    """udev's: `group` may read these `files` of `which` devices, whenever their driver is loaded."""
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
