"""Small files of sysfs, any of which may be missing, damaged or refused."""

import re
from collections.abc import Iterable
from pathlib import Path

LONGEST = 64  # characters of a name


def text(path: Path) -> str:
    """What it says; empty where it says nothing that can be read."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):  # bytes that are no UTF-8 are a ValueError
        return ""


def number(path: Path) -> int | None:
    """What it says, or None where that is no whole number."""
    try:
        return int(text(path))
    except ValueError:
        return None


def in_order(paths: Iterable[Path]) -> list[Path]:
    """As people count: 2 before 10."""
    return sorted(paths, key=lambda path: [(int(n or -1), w) for n, w in re.findall(r"(\d+)|(\D+)", str(path))])


def new_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, short enough, with a number behind it where others have it already: `nvme`, `nvme-2`."""
    names, name, count = set(taken), wanted[:LONGEST], 1
    while name in names:
        count += 1
        name = f"{wanted[: LONGEST - 4]}-{count}"
    return name
