"""The real daemon, with its real children, on free ports and in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.request import urlopen

import psutil

from edged.client import Prediction, subscribe
from tests.cli.models import small_network
from tests.compiled import compiled_by
from tests.eventually import LIMIT_S, eventually, free_port

START_S = 90.0  # a first start may compile, on a machine that is busy
MAX_AGE_S = 0.5  # the default of freshness.max_age_s
STAMP_S = 0.1  # from the last look at a prediction's age to its stamp, where the machine is not late itself
PATIENT = {"max_age_s": START_S}  # freshness for who expects each number: nothing grows too old on a busy machine
SYNTHETIC = {"source": "synthetic:digits", "size": [160, 120], "fps": 30}


@dataclass
class Daemon:
    """`edged run`, and how to reach it."""

    process: "subprocess.Popen[str]"
    config: dict[str, Any]
    folder: Path

    @property
    def address(self) -> str:
        return str(self.config["publish"]["address"])

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, *verb: str) -> psutil.Process:
        """The process of `edged VERB`, or `edged VERB ARGUMENT`, once there is one."""
        return eventually(lambda: [each for each in self.children() if {*verb} <= {*_command(each)}])[0]

    def first(self, count: int, **arguments: Any) -> list[Prediction]:
        """The next predictions."""
        stream = subscribe(self.address, timeout_s=START_S, **arguments)
        try:
            return [next(stream) for _ in range(count)]
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{self.log()}") from None

    def metrics(self) -> str:
        with urlopen(f"http://{self.config['metrics']['address']}/metrics", timeout=LIMIT_S) as answer:
            return str(answer.read().decode())

    def log(self) -> str:
        return (self.folder / "stderr").read_text()

    def stop(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        """The summary, after a stop."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> dict[str, Any]:
        """The summary, after the daemon has ended by itself."""
        assert self.process.wait(LIMIT_S) == 0, self.log()
        summary: dict[str, Any] = json.loads((self.folder / "stdout").read_text().splitlines()[-1])
        return summary


def config_in(folder: Path, **sections: Any) -> dict[str, Any]:
    """A pipeline with a small network on NumPy, changed by `sections`."""
    return {
        "node": "test",
        "cameras": {"demo": SYNTHETIC},
        "model": {"path": str(small_network(folder / "small.onnx"))},
        "workers": [{"device": "numpy"}],
        "publish": {"address": f"tcp://127.0.0.1:{free_port()}", "replay": f"tcp://127.0.0.1:{free_port()}"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
        **sections,
    }


def compiled() -> Path:
    """What the daemons of all tests have compiled, so that the next one starts warm."""
    return compiled_by("daemons")


@contextmanager
def run_edged(
    folder: Path,
    *arguments: str,
    config: dict[str, Any] | None = None,
    programs: Path | None = None,
    module: str = "edged",
    output: IO[str] | None = None,
) -> Iterator[Daemon]:
    """Start `edged run --json` in `folder`; whatever happens, nothing is left of it.

    `programs`: its cache, in place of the one that the daemons of all tests share. `module`: what is `edged`.
    `output`: in place of the file `stdout`.
    """
    config = config or config_in(folder)
    path = folder / "edged.yaml"
    path.write_text(json.dumps(config))  # JSON is YAML
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(folder),
        "XDG_CACHE_HOME": str(programs or compiled()),
    }
    command = [sys.executable, "-m", module, "run", str(path), "--json", *arguments]
    with (folder / "stdout").open("w") as stdout, (folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            command, stdout=output or stdout, stderr=stderr, text=True, env=environment, start_new_session=True
        )
    daemon = Daemon(process, config, folder)
    children: list[psutil.Process] = []
    try:
        yield daemon
        children = daemon.children() if process.poll() is None else []
    finally:
        process.kill()
        process.wait()
        assert "Traceback" not in daemon.log(), daemon.log()
    eventually(lambda: not any(map(_is_alive, children)))


def conserves(summary: dict[str, Any]) -> bool:
    """Whether every frame is accounted for."""
    return bool(summary["captured"] == summary["predictions"] + sum(summary["dropped"].values()))


def _is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended may wait for seconds until process 1 takes note of it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
