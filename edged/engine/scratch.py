"""Where PoCL puts the files of its compiler: a folder of this process's own, since it would run whatever it finds.

Between two starts programs live in `binaries`, which knows whether they are whole.
"""

import os
import shutil
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

VARIABLE = "POCL_CACHE_DIR"


def use_own_scratch(parent: Path, environment: MutableMapping[str, str]) -> None:
    """Name a folder of `parent` in `environment`, unless the user has named one; remove those of dead processes.

    What a parent process had named for itself is not ours either: a killed one's folder may vanish any time.
    """
    inherited = environment.get(VARIABLE)
    if inherited and Path(inherited).parent != parent:
        return
    for folder in parent.glob("[0-9]*"):
        if folder.name == str(os.getpid()) or not _is_alive(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    environment[VARIABLE] = str(_make(parent / str(os.getpid())))


def _make(folder: Path) -> Path:
    """`folder`, or one elsewhere if it cannot be written: PoCL finds no device without."""
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="edged-pocl-"))
    return folder


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
