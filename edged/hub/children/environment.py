"""The environment of a child: the hub's own, without passwords of other cameras."""

import os

from edged.config import Config


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
        return {name: value for name, value in os.environ.items() if name not in secret}
