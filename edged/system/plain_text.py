"""Make text of others (labels, names of models, files, nodes) safe for terminals and JSON; count, align tables."""

import math
import shutil
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TextIO

MAX_CHARACTERS = 256
# make text look like other text
BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})  # categories of Unicode: Cs is a surrogate, which JSON cannot hold


def problem_of(text: str) -> str:
    """Return why `text` is not plain text on one line: it would control a terminal, or break JSON.

    Empty if it is.
    """
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters; up to {MAX_CHARACTERS} are supported"
    control = next(filter(_is_control, text), None)
    return f"it holds the control character U+{ord(control):04X}: remove it" if control else ""


def plain(text: str) -> str:
    """Return the text as `problem_of` accepts it: `?` for each control character, cut where it is too long.

    For display use `printable`, which is stricter.
    """
    return "".join("?" if _is_control(character) else character for character in text[:MAX_CHARACTERS])


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in CONTROLS or character in BIDIRECTIONAL


def printable(text: str, replacement: str = "?") -> str:
    """Return the text on one line, with `replacement` for all but letters, signs and blanks."""
    return "".join(character if character.isprintable() else replacement for character in text)


def printable_lines(text: str) -> str:
    """Apply `printable` to each line of a text."""
    return "\n".join(printable(line) for line in text.split("\n"))


def counted(number: int, noun: str) -> str:
    """Return `1 frame`, `2 frames`, `2 classes`, for a noun whose plural ends in s."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def short_number(value: float) -> str:
    """Format a number of at least 0 with two digits that say something: 0.034, 3.4, 34, and 340 as it is."""
    if not value:
        return "0"
    rounded = float(f"{value:.1e}")  # 9.96 is 10
    return f"{value:.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def fitted(text: str, stream: TextIO | None, indent: int) -> str:
    """Break each line of `text` between words where `stream` is a terminal that is narrower.

    `indent`: blanks before each line but the first. Words, as paths and commands, stay whole.
    """
    if stream is None or not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(_broken(line, width, indent) for line in text.split("\n"))


def _broken(line: str, width: int, indent: int) -> str:
    if len(line) <= width:
        return line
    indentation = " " * (indent + len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, width, subsequent_indent=indentation, break_long_words=False, break_on_hyphens=False
    )


def printable_json(json: str) -> str:
    """Return the same JSON value, with escapes for characters that JSON allows but terminals interpret, as U+009B.

    `json`: on one line.
    """
    if json.isprintable():
        return json
    return "".join(character if character.isprintable() else _escaped(character) for character in json)


def _escaped(character: str) -> str:
    """Escape a character as JSON does, in UTF-16."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def aligned(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return the rows of a table as lines. The first `left` columns are left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cells(row, widths, left)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    cells = enumerate(zip(row, widths, strict=True))
    return [text.ljust(width) if index < left else text.rjust(width) for index, (text, width) in cells]
