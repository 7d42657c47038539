"""Print the judgement as one page of 80 columns."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from edged.cli.doctor.judge.judgement import Judgement
from edged.system.plain_text import printable

WIDTH = 80
INDENT = " " * 8
COMMENT = "  # "  # begins what a remedy says besides its command
JOINED = " \\"
LEVELS = {"ok": "  ok", "note": "note", "mend": "MEND"}


def page(judgements: Sequence[Judgement]) -> str:
    """Return the page: a part for each section, then how much is to be mended."""
    return "\n".join([*_lines(judgements), _end(judgements)])


def _lines(judgements: Sequence[Judgement]) -> Iterator[str]:
    for section, inside in groupby(judgements, key=lambda judgement: judgement.section):
        yield printable(section)[:WIDTH]
        for judgement in inside:
            yield from _judged(judgement)
        yield ""


def _judged(judgement: Judgement) -> Iterator[str]:
    text = f"{printable(judgement.what)}: {printable('; '.join(judgement.text.splitlines()))}"
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=f"  {LEVELS[judgement.level]}  ", subsequent_indent=INDENT
    )
    for command in judgement.remedy:
        yield from _command(printable(command))


def _command(command: str) -> Iterator[str]:
    """Break a shell command where a backslash joins its lines again; its comment has lines of its own."""
    shell, _, comment = command.partition(COMMENT)
    width = WIDTH - len(INDENT) - 4
    lines = textwrap.wrap(shell, width, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines, start=1):
        yield INDENT + ("$ " if number == 1 else "  ") + line + (JOINED if number < len(lines) else "")
    yield from (f"{INDENT}  # {line}" for line in textwrap.wrap(comment, width, break_long_words=False))


def _end(judgements: Sequence[Judgement]) -> str:
    count = sum(judgement.level == "mend" for judgement in judgements)
    return f"{count} thing{'s' * (count > 1)} to mend, marked MEND" if count else "nothing to mend"
