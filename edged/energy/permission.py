"""How to let this user read a counter that only root may: now, and from each start of the machine on."""

import grp
import os
from collections.abc import Sequence
from pathlib import Path

RULES = "/etc/udev/rules.d/71-edged-energy.rules"


def remedy_for(files: Sequence[Path]) -> str:
    """Lines for a shell. `files`: of one device in /sys/class."""
    folder, group = files[0].parent, _group()
    names = " ".join(map(str, files))
    now = f"until the next start: sudo chgrp {group} {names} && sudo chmod g+r {names}"
    subsystem = folder.parent.name
    rule = rule_for(subsystem, _name_of(folder), [file.name for file in files], group)
    return (
        f"{now}; for good: echo '{rule}' | sudo tee -a {RULES} && sudo udevadm control --reload && "
        f"sudo udevadm trigger --subsystem-match={subsystem}"
    )


def rule_for(subsystem: str, name: str, files: Sequence[str], group: str) -> str:
    """udev's: `group` may read these `files` of each device of that `name`, whenever its driver is loaded."""
    paths = " ".join(f"/sys%p/{file}" for file in files)
    return (
        f'SUBSYSTEM=="{subsystem}", ATTR{{name}}=="{name}", ACTION!="remove", '
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
