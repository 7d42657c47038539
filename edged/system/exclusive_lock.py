"""Allow one process per camera or device: an exclusive lock that the kernel releases when its holder ends.

A process that is stuck in a driver cannot be killed, and a service manager starts a second one beside it: two
would use the same hardware. The lock survives every kill without effect.
"""

import fcntl
import logging
import os
import re
import sys
import time
from pathlib import Path

from edged.errors import DeviceError
from edged.system.paths import state_directory

PATIENCE_S = 1.0  # a holder that was killed may still be ending

log = logging.getLogger("edged.system.exclusive_lock")

_held: dict[Path, int] = {}


def hold(what: str, within_s: float = PATIENCE_S) -> int:
    """Lock `what` (`camera-/dev/video0`) until this process ends or releases it; return the lock's descriptor.

    A program that replaces this process must call it again. If no lock file can be created or opened, a warning is
    logged, and there is no lock (-1). Raises DeviceError, which names the holder, if it keeps the lock for
    `within_s`.
    """
    path = _path_of(what)
    if path in _held:
        return _held[path]
    try:
        descriptor = _open(path)
        if not _lock(descriptor, time.monotonic() + within_s):
            os.close(descriptor)
            raise DeviceError(f"{what} is in use {_by_whom(path)}")
    except OSError as error:
        log.warning("%s is not locked against a second edged: %s: %s", what, path, error.strerror)
        return -1
    _sign(descriptor)
    _held[path] = descriptor
    return descriptor


def release(what: str) -> None:
    """Give up a lock that this process holds, if it does."""
    descriptor = _held.pop(_path_of(what), None)
    if descriptor is not None:
        os.close(descriptor)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file or folder until it is closed. Return False where another process has it.

    `shared`: any number of processes may, while none has it for itself. A file system without locks: False.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def state_of(pid: int, thread: str = "") -> str:
    """Return the state of a process, or of one of its threads, by the kernel (proc(5): R, S, D, T …).

    Empty: it has ended.
    """
    place = f"/proc/{pid}/task/{thread}/stat" if thread else f"/proc/{pid}/stat"
    try:
        return Path(place).read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _path_of(what: str) -> Path:
    return state_directory() / "locks" / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', what)}.lock"


def _open(path: Path) -> int:
    """Open the file of a lock, which no child inherits; on a full disk an existing file is used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return os.open(path, os.O_RDONLY)


def _lock(descriptor: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _sign(descriptor: int) -> None:
    """Write the holder's name into the file, if the disk permits."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} edged {' '.join(sys.argv[1:3])}\n".encode(), 0)
    except OSError as error:
        log.warning("a lock does not name its holder: %s", error.strerror)


def _by_whom(path: Path) -> str:
    """Format as `by process 123 (edged worker 0), …`, with what to do."""
    number, _, name = path.read_text(errors="replace").strip().partition(" ")
    if not number.isdecimal():
        return f"by another process (`fuser {path}` shows which): stop that one first"
    match state_of(int(number)):
        case "D":
            what = "which is stuck in the kernel (state D): it ends when its driver returns, or at a restart"
        case "T" | "t":
            what = f"which is stopped (state T): `kill -CONT {number}` resumes it, `kill -9 {number}` ends it"
        case state:
            what = f"which runs (state {state or 'unknown'}): stop that one first, or name another in the config"
    return f"by process {number} ({name}), {what}"
