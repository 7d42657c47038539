"""What `edged VERB --help` must not load: on a slow board each of these takes a second or more."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from edged.cli.verbs import VERBS

ASK = """
import os, sys
from edged.cli import command_parser

for verb in sys.argv[1:]:
    if not os.fork():
        command_parser([verb])
        print(verb, *sys.modules, flush=True)
        os._exit(0)
    os.wait()
"""
HEAVY = {"cv2", "http.server", "numpy", "onnx", "prometheus_client", "pyopencl", "rich"}
JOURNAL = {"edged.hub.journal", "edged.hub.journal.reader", "edged.hub.journal.schema"}  # of `edged export`, light
# they compute or serve: their modules of arguments are those that do it
LOAD_THEM = {
    "bench": {"numpy", "pyopencl"},
    "compress": {"numpy"},
    "demo": {"http.server", "prometheus_client"},
    "inspect": {"numpy"},
    "model": {"numpy", "onnx"},
    "models": {"numpy"},
    "plan-split": {"http.server", "numpy", "prometheus_client", "pyopencl"},
    "profile": {"numpy", "pyopencl"},
    "quantize": {"numpy"},
    "run": {"http.server", "prometheus_client"},
    "serve": {"http.server", "prometheus_client"},
    "train": {"numpy"},
    "tune": {"numpy"},
    "verify": {"numpy"},
    "view": {"http.server", "prometheus_client"},
}


@pytest.fixture(scope="module")
def modules_of() -> Mapping[str, set[str]]:
    """What the help of each verb loads, in a process of its own."""
    asked = subprocess.run(
        [sys.executable, "-c", ASK, *VERBS], capture_output=True, text=True, timeout=60, check=True
    )
    lines = map(str.split, asked.stdout.splitlines())
    return {verb: set(modules) for verb, *modules in lines}


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_loads_no_heavy_module_that_is_not_listed(
    modules_of: Mapping[str, set[str]], verb: str
) -> None:
    modules, listed = modules_of[verb], LOAD_THEM.get(verb, set())
    of_hub = {name for name in modules if name.startswith("edged.hub.")} - JOURNAL
    assert modules & HEAVY <= listed
    assert not of_hub or "prometheus_client" in listed
