"""What `edged doctor` writes: the findings as a page of 80 columns, and a bundle to send in, without secrets."""

import io
import json
import tarfile
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from edged.doctor.finding import Finding
from edged.errors import ConfigError
from edged.system.files import write_result
from edged.system.plain_text import printable

WIDTH = 80
INDENT = " " * 8
COMMENT = "  # "  # begins what a line says besides its command
JOINED = " \\"
LEVELS = {"ok": "  ok", "warning": "note", "error": " FIX"}
FOLDER = "edged-doctor"


def page(findings: Sequence[Finding]) -> str:
    """Return the page: a part for each section, then how much is to be fixed."""
    count = sum(finding.level == "error" for finding in findings)
    end = f"{count} problem{'s' * (count > 1)} to fix, marked FIX" if count else "nothing to fix"
    return "\n".join([*_lines(findings), end])


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for section, inside in groupby(findings, key=lambda finding: finding.section):
        yield printable(section)[:WIDTH]
        for finding in inside:
            yield from _finding(finding)
        yield ""


def _finding(finding: Finding) -> Iterator[str]:
    text = f"{printable(finding.what)}: {printable('; '.join(finding.text.splitlines()))}"
    yield from textwrap.wrap(text, WIDTH, initial_indent=f"  {LEVELS[finding.level]}  ", subsequent_indent=INDENT)
    for command in finding.commands:
        yield from _command(printable(command))


def _command(command: str) -> Iterator[str]:
    """Break a shell command where a backslash joins its lines again; its comment has lines of its own."""
    shell, _, comment = command.partition(COMMENT)
    width = WIDTH - len(INDENT) - 4
    lines = textwrap.wrap(shell, width, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines, start=1):
        yield INDENT + ("$ " if number == 1 else "  ") + line + (JOINED if number < len(lines) else "")
    yield from (f"{INDENT}  # {line}" for line in textwrap.wrap(comment, width, break_long_words=False))


def check_name(path: Path) -> None:
    """Raises ConfigError for a name that another program would not open as a bundle."""
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise ConfigError(f"--bundle {path}: expected a name that ends in .tar.gz")


def write_bundle(path: Path, page: str, report: dict[str, Any]) -> None:
    """Write the page, the facts with the findings, and the config without secrets. Raises ConfigError."""
    config = report["facts"]["config"]
    files = {"doctor.txt": page, "doctor.json": _json(report), "config.json": _json(config)}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    write_result(path, content.getvalue())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
