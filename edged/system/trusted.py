"""Check that a file that edged trusts cannot be written by another user."""

import os
import stat
from pathlib import Path

OTHERS_WRITE = 0o022


def why_not_trusted(path: Path, status: os.stat_result) -> str:
    """Return why the file or folder at `path` must not be used, and what to do; empty if it is safe.

    It must belong to this user or root, and not be writable by others. `status`: of the file that was opened, or
    of the folder.
    """
    if status.st_uid not in {0, os.geteuid()}:
        return f"{path} belongs to another user and is not used: remove it, or sudo chown {os.geteuid()} {path}"
    if stat.S_IMODE(status.st_mode) & OTHERS_WRITE:
        return f"{path} may be written by others and is not used: remove it, or chmod go-w {path}"
    return ""
