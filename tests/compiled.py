"""Where the processes of one run of the tests keep what they have compiled, each for all others."""

import atexit
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

VARIABLE = "EDGED_TESTS_COMPILED"  # its folder, for the processes that are started by this one


def share_compiled() -> None:
    """Make the folder, unless this process was started by one that has; it is removed when this process ends."""
    if VARIABLE in os.environ:
        return
    folder = os.environ[VARIABLE] = mkdtemp(prefix="edged-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def compiled_by(users: str) -> Path:
    """The folder of one kind of users, who know each other's files."""
    share_compiled()
    folder = Path(os.environ[VARIABLE], users)
    folder.mkdir(exist_ok=True)
    return folder
