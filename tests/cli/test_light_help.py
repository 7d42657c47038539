"""What `edged VERB --help` must not load: on a slow board each of these takes a second or more."""

import subprocess
import sys

import pytest

from edged.cli.verbs import VERBS

ASK = "import sys; from edged.cli import command_parser; command_parser([sys.argv[1]]); print(*sys.modules)"
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
    "train": {"numpy"},
    "tune": {"numpy"},
    "verify": {"numpy"},
    "view": {"http.server", "prometheus_client"},
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_loads_no_heavy_module_that_is_not_listed(verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, verb], capture_output=True, text=True, timeout=60, check=True
    )

    modules, listed = set(done.stdout.split()), LOAD_THEM.get(verb, set())
    of_hub = {name for name in modules if name.startswith("edged.hub.")} - JOURNAL
    assert modules & HEAVY <= listed
    assert not of_hub or "prometheus_client" in listed
