"""The command line and the environment of a camera or worker process.

Overrides of the config are not passed on: the config that the hub writes for its children holds their values.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from edged.config import Config
from edged.config.overrides import is_override

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


class ChildEnvironment:
    """Remembers every variable that has held a password: after a reload the hub's environment still has it."""

    def __init__(self, config: Config) -> None:
        self._secret: frozenset[str] = frozenset()
        self.set_config(config)

    def set_config(self, config: Config) -> None:
        """Apply another config, after a reload."""
        cameras = config.cameras.items()
        self._own = {name: camera.password_env for name, camera in cameras if camera.password_env}
        self._secret |= frozenset(self._own.values())

    def of_camera(self, name: str) -> dict[str, str]:
        """Return the environment of a camera, with the variable that its `password_env` names."""
        return self._without(self._secret - {self._own.get(name)})

    def of_worker(self) -> dict[str, str]:
        """Return the environment of a worker, without passwords."""
        return self._without(self._secret)

    def _without(self, secret: frozenset[str]) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name not in secret and not is_override(name)}
