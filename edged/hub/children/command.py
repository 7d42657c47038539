"""The command line of a camera or worker process."""

import sys
from collections.abc import Sequence
from pathlib import Path

EDGED = (sys.executable, "-m", "edged")


class ChildCommands:
    """Says how the processes of one hub are started."""

    def __init__(self, path: Path, address: str, program: Sequence[str] = EDGED) -> None:
        """`path`: the config file, for the children; `address`: where the hub's link is.

        `program`: what is started, with the verb `camera` or `worker`.
        """
        self._program = tuple(program)
        self._where = ("--config", str(path), "--hub", address)

    def camera(self, name: str) -> tuple[str, ...]:
        """Return the command line of a camera."""
        return (*self._program, "camera", name, *self._where)

    def worker(self, index: int) -> tuple[str, ...]:
        """Return the command line of the worker with this place in the config's list."""
        return (*self._program, "worker", str(index), *self._where)

    def spare(self) -> tuple[str, ...]:
        """Return the command line of a worker that learns later which it is."""
        return (*self._program, "worker", *self._where)
