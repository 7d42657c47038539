"""Figures and text of `edged top` in so many columns."""

from rich.cells import cell_len, set_cell_size

from edged.printable import printable


def fit(text: str, columns: int, *, right: bool = False) -> str:
    """Exactly so many columns of it: `…` says that there was more."""
    text = printable(text)
    if cell_len(text) > columns:
        text = set_cell_size(text, columns - 1).rstrip() + "…" if columns else ""
    blank = " " * (columns - cell_len(text))
    return blank + text if right else text + blank


def duration(seconds: float | None) -> str:
    """`0.04 s`, `12 s`, `3 min`, `2 h`, `5 d`: at most six columns."""
    if seconds is None:
        return "-"
    if seconds < 10:
        return f"{seconds:.2f} s"
    for unit, most, each in (("s", 100, 1), ("min", 100 * 60, 60), ("h", 72 * 3600, 3600)):
        if seconds < most:
            return f"{seconds / each:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def milliseconds(seconds: float | None) -> str:
    """`4.2`, `120`."""
    if seconds is None:
        return "-"
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def rate(each_second: float) -> str:
    """`3/s`, `0.2/s`; nothing for 0."""
    if each_second < 0.05:
        return ""
    return f"{each_second:.1f}/s" if each_second < 10 else f"{each_second:.0f}/s"
