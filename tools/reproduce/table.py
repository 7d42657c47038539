"""Figures as a Markdown table."""

from collections.abc import Sequence

Row = Sequence[str]


def table(head: Row, rows: Sequence[Row]) -> str:
    """Return a table whose first column is text and whose others are figures."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def duration(seconds: float) -> str:
    """Return milliseconds, or seconds from 10 s on, with three digits."""
    value, unit = (seconds * 1e3, "ms") if seconds < 10 else (seconds, "s")
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"
