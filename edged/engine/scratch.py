"""Give PoCL's compiler a private folder for its files, since it would run whatever it finds there.

Between two starts programs are kept in `binaries`, with checksums.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path

VARIABLE = "POCL_CACHE_DIR"
PREFIX = "edged-pocl-"
PLACES = (Path(tempfile.gettempdir()), Path("/dev/shm"))  # noqa: S108 mkdtemp; if the cache's disk is full or read-only
ROOM = 16 << 20  # bytes; a start of ResNet-50 takes 2.4 MB


def use_own_scratch(parent: Path, environment: MutableMapping[str, str]) -> None:
    """Name a folder of `parent` in `environment`, unless the user has named one; remove those of dead processes.

    A folder that a parent process named is not reused: that of a killed one may disappear at any time.
    """
    inherited = environment.get(VARIABLE)
    if inherited and Path(inherited).parent != parent:
        return
    with _one_at_a_time(parent):
        for folder in (*parent.glob("[0-9]*"), *_elsewhere()):
            _remove_if_left(folder)
        environment[VARIABLE] = str(_make(parent))


@contextlib.contextmanager
def _one_at_a_time(parent: Path) -> Iterator[None]:
    """Keep other processes from removing a folder that this one has made and not locked yet.

    Process numbers do not say who is alive: they begin anew with each start of the system and in each container.
    """
    lock = None
    with contextlib.suppress(OSError):  # a disk that is read-only or full: the folder is elsewhere
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _remove_if_left(folder: Path) -> None:
    """Remove a folder unless a process uses it: that keeps its lock."""
    process = int(folder.name.removeprefix(PREFIX).partition("-")[0])
    if process != os.getpid() and _is_alive(process):
        return
    with contextlib.suppress(OSError):  # locked, or removed by another process
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def _make(parent: Path) -> Path:
    """Create and lock a folder, elsewhere if `parent` takes none: PoCL needs it to find devices and to compile."""
    if parent.is_dir() and _has_room(parent):
        with contextlib.suppress(OSError):
            return _locked(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
    place = next((place for place in PLACES if _has_room(place)), PLACES[0])
    return _locked(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))


def _locked(folder: str) -> Path:
    """Lock a folder until this process ends."""
    fcntl.flock(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), fcntl.LOCK_EX)
    return Path(folder)


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
