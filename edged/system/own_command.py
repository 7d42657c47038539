"""How this edged is called, so that a command in a message works as it is printed.

A checkout's `.venv/bin/edged` is on nobody's PATH, and an `edged` that is there may be another installation.
"""

import os
import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

_COMMAND = re.compile(r"`edged ([a-z-][^`]*)`")
_EXAMPLE = re.compile("^  edged ", re.MULTILINE)
_CONFIG = re.compile(r"\bCONFIG\b")
_given: list[str] = []  # the config that this process was started with, if any


def name_config(file: Path | None) -> None:
    """Set the file that `CONFIG` in a command of a message stands for from now on; None: it stays as it is."""
    _given[:] = [] if file is None else [shlex.quote(str(file))]


def as_typed(text: str) -> str:
    """Return a message with each `edged VERB … CONFIG …` in it as it has to be typed here."""
    return _COMMAND.sub(lambda found: f"`{own_command()} {_filled_in(found[1])}`", text)


def examples_as_typed(help_text: str) -> str:
    """Return a help text with its examples as they have to be typed here."""
    return _EXAMPLE.sub(lambda _: f"  {own_command()} ", help_text)


def _filled_in(arguments: str) -> str:
    return _CONFIG.sub(lambda _: _given[0], arguments) if _given else arguments


@cache
def own_command() -> str:
    """Return `edged` where a shell finds this one by that name, else its path from the working directory."""
    script = Path(sys.prefix) / "bin/edged"
    if not script.exists():
        return f"{_from_here(Path(sys.executable or 'python3'))} -m edged"
    found = shutil.which("edged")
    return "edged" if found and os.path.samefile(found, script) else _from_here(script)


def _from_here(path: Path) -> str:
    try:
        return shlex.quote(str(path.relative_to(Path.cwd())))
    except (ValueError, OSError):  # elsewhere, or the working directory is gone
        return shlex.quote(str(path))
