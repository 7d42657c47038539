"""Ctrl-C while a command still starts."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edged.system.process_end import PARENT
from tests.cli.models import small_network
from tests.eventually import LIMIT_S

MODULES = ("edged.system.terminal", "pydantic_core", "edged.config", "zmq.backend", "edged.hub.wiring")


EDGED = """
import os, runpy, signal, sys

class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module, *sys.argv = sys.argv[1:]
sys.meta_path.insert(0, Interruption())
runpy.run_module("edged", run_name="__main__", alter_sys=True)
"""


def interrupted_at(module: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Interrupt `edged …` as it begins to import a module; return its exit code and its standard error."""
    command = [sys.executable, "-c", EDGED, module, "edged", *arguments]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, timeout=LIMIT_S, check=False
    )
    return ended.returncode, ended.stderr


@pytest.fixture
def config(tmp_path: Path) -> str:
    file = tmp_path / "edged.yaml"
    file.write_text(
        "cameras: {door: {source: 'synthetic:digits'}}\n"
        f"model: {{path: {small_network(tmp_path / 'net.onnx')}}}\nworkers: [{{device: numpy}}]\n"
    )
    return str(file)


@pytest.mark.parametrize("module", MODULES)
def test_a_daemon_that_is_interrupted_while_it_imports_ends_without_a_traceback(config: str, module: str) -> None:
    code, errors = interrupted_at(module, "run", config)
    assert code == -signal.SIGINT
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors


@pytest.mark.parametrize("verb", ["check", "demo", "devices", "predict", "subscribe", "top"])
def test_so_does_every_other_command(config: str, verb: str) -> None:
    arguments = {"check": [config], "predict": ["digits", "x.jpg"]}.get(verb, [])
    code, errors = interrupted_at("argparse", verb, *arguments)
    assert code == -signal.SIGINT
    assert "Traceback" not in errors


def test_a_child_of_a_hub_is_not_interrupted(config: str) -> None:
    code, errors = interrupted_at("argparse", "camera", "window", "--config", config, **{PARENT: str(os.getpid())})
    assert code == 2
    assert "has no camera 'window'" in errors
