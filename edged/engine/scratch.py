"""Give PoCL's compiler a private folder for its files, since it would run whatever it finds there.

Between two starts programs are kept in `binaries`, with checksums.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path

VARIABLE = "POCL_CACHE_DIR"
PREFIX = "edged-pocl-"
PLACES = (Path(tempfile.gettempdir()), Path("/dev/shm"))  # noqa: S108 mkdtemp; where the cache's own disk takes nothing
ROOM = 16 << 20  # bytes; a start of ResNet-50 takes 2.4 MB


def use_own_scratch(parent: Path, environment: MutableMapping[str, str]) -> None:
    """Name a folder of `parent` in `environment`, unless the user has named one; remove those of dead processes.

    A folder that a parent process named is not reused: that of a killed one may disappear at any time.
    """
    inherited = environment.get(VARIABLE)
    if inherited and Path(inherited).parent != parent:
        return
    for folder in (*parent.glob("[0-9]*"), *_elsewhere()):
        process = int(folder.name.removeprefix(PREFIX).partition("-")[0])
        if process == os.getpid() or not _is_alive(process):
            shutil.rmtree(folder, ignore_errors=True)
    environment[VARIABLE] = str(_make(parent / str(os.getpid())))


def _make(folder: Path) -> Path:
    """Create `folder`, or one elsewhere if it cannot be written: PoCL needs it to find devices and to compile."""
    try:
        folder.mkdir(parents=True, mode=0o700)
        if _has_room(folder):
            return folder
        folder.rmdir()
    except OSError:
        pass
    place = next((place for place in PLACES if _has_room(place)), PLACES[0])
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))


def _elsewhere() -> Iterator[Path]:
    """Return our own folders in other places."""
    for place in PLACES:
        for folder in place.glob(f"{PREFIX}[0-9]*-*"):
            with contextlib.suppress(FileNotFoundError):  # another process removes them too
                if folder.lstat().st_uid == os.getuid():
                    yield folder


def _has_room(folder: Path) -> bool:
    return folder.is_dir() and shutil.disk_usage(folder).free >= ROOM


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
