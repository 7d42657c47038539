"""`edged --version`: the version, and the commit where it is known."""

import argparse
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

from edged import __version__

COMMIT_FILE = "commit"  # of the package, written by tools/hatch_build.py
GIT_S = 5.0


class PrintVersion(argparse.Action):
    """Prints `edged VERSION (COMMIT)` and exits; the commit is looked up only then."""

    def __init__(self, option_strings: list[str], dest: str) -> None:
        what = "print the version, and the commit it was built from where that is known, and exit"
        super().__init__(option_strings, dest=argparse.SUPPRESS, default=argparse.SUPPRESS, nargs=0, help=what)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Raises SystemExit."""
        known = commit()
        print(f"edged {__version__}{f' ({known})' if known else ''}")
        parser.exit()


def commit() -> str:
    """Return the commit of this package: as it was built, or of its checkout; empty if neither is known."""
    package = Path(str(files("edged")))
    try:
        return (package / COMMIT_FILE).read_text().strip()
    except OSError:
        return commit_of(package.parent)


def commit_of(checkout: Path) -> str:
    """Return the commit of the checkout in a folder, with `+` after it where files differ; empty without git."""
    if not (checkout / ".git").exists():
        return ""
    command = ("git", "-C", str(checkout), "describe", "--always", "--exclude=*", "--abbrev=9", "--dirty=+")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=GIT_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
