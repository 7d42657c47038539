"""`edged bridge mqtt` beside the daemon, its broker, and somebody who listens there."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tests.e2e.broker import PROGRAM, listener, mosquitto
from tests.e2e.witness import Keys
from tests.eventually import eventually, free_port

TOPICS = "edged/test"
CURRENT_WITHIN_S = 15.0


def has_bridge() -> bool:
    """Whether a broker is installed here."""
    return PROGRAM is not None


class Bridged:
    """One bridge and one broker, which outlive the daemons."""

    def __init__(self, folder: Path, config: dict[str, Any], keys: Keys) -> None:
        """`config`: of the daemon; the bridge gets a copy of it with a section of its own."""
        self._folder, self._port, self._ends = folder / "bridged", free_port(), ExitStack()
        self._folder.mkdir()
        file = folder / "bridge.yaml"  # beside the daemon's, for the files that both name
        file.write_text(json.dumps({**config, "mqtt": {"address": f"mqtt://127.0.0.1:{self._port}"}}))
        options = ["--key", str(keys["key"]), "--server-key", str(keys["server_key"])]
        self._command = [sys.executable, "-m", "edged", "bridge", "mqtt", str(file), *options]

    def __enter__(self) -> Self:
        self._broker = self._ends.enter_context(mosquitto(self._folder, self._port, "allow_anonymous true"))
        environment = {**os.environ, "XDG_STATE_HOME": str(self._folder)}
        with (self._folder / "bridge.log").open("wb") as log:
            self._bridge = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)
        self._ends.callback(self._bridge.kill)
        return self

    def __exit__(self, *_: object) -> None:
        self.broker_goes_on()
        self._ends.close()
        self._bridge.wait()

    def broker_hangs(self) -> None:
        """It answers nobody, with every connection open."""
        self._broker.send_signal(signal.SIGSTOP)

    def broker_goes_on(self) -> None:
        self._broker.send_signal(signal.SIGCONT)

    def faults(self, cameras: list[str], since: float) -> list[str]:
        """Wait until each camera is available and a prediction later than `since`, a wall time, has come.

        Return what is wrong with the bridge or with what the broker has.
        """
        with listener(self._port) as heard:
            try:
                eventually(
                    lambda: all(self._is_current(heard.last, camera, since) for camera in cameras),
                    CURRENT_WITHIN_S,
                )
            except AssertionError:
                return [f"the broker has {sorted(heard.last.items())}"]
        log = (self._folder / "bridge.log").read_text()
        return [log] if "Traceback" in log or self._bridge.poll() is not None else []

    @staticmethod
    def _is_current(last: dict[str, str], camera: str, since: float) -> bool:
        prediction = json.loads(last.get(f"{TOPICS}/{camera}/prediction", "{}"))
        is_online = last.get(f"{TOPICS}/{camera}/availability") == "online"
        return is_online and float(prediction.get("captured_at", 0)) > since
