"""A process beside the test that holds a lock, and may be stuck in a write to a disk."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLDS = """
import sys
from edged.system.exclusive_lock import hold
sys.argv = ["edged", "worker", "0"]
hold({what!r})
print("held", flush=True)
open(sys.stdin.readline().strip(), "w").write("never, on a disk that is frozen")
"""


@contextmanager
def held_by_another(what: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that holds this lock; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS.format(what=what)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def write_to(holder: "subprocess.Popen[str]", path: Path) -> None:
    """Let the holder write to this path: the one system call that it has left."""
    assert holder.stdin
    holder.stdin.write(f"{path}\n")
    holder.stdin.flush()
