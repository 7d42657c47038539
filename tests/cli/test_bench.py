"""`edged bench` as a user runs it."""

import json
from pathlib import Path

import pytest

from edged.cli.bench.report import as_table, report
from edged.cli.bench.timing import time_in_turn
from edged.cli.pictures import random_images
from edged.config import ModelConfig
from edged.model.model_part import whole_model
from edged.model.package import load_model
from edged.runtime.numpy_runtime import NumpyRuntime
from edged.system.machine_state import Account
from tests.cli.command import edged_here
from tests.cli.models import small_network
from tests.system.scripted_machine import ScriptedMachine

KEYS = {"model", "size", "batch", "device", "precision", "runs", "seconds", "host_seconds", "kernels"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a small network."""
    return small_network(tmp_path_factory.mktemp("model") / "small.onnx")


def test_a_program_reads_one_object(model: Path) -> None:
    found = json.loads(edged_here("bench", "--model", model, "--batch", 2, "--runs", 5, "--json").stdout)

    assert found.keys() >= KEYS
    assert (found["size"], found["batch"], found["runs"]) == (16, 2, 5)
    assert found["seconds"]["min"] <= found["seconds"]["median"] <= found["seconds"]["p99"]
    assert sum(found["machine"]["runs"].values()) == 5
    assert sum(state["runs"] for state in found["states"].values()) == 5


def test_figures_are_of_one_state_of_the_machine_and_the_output_says_which(model: Path) -> None:
    loaded = load_model(ModelConfig(path=model))
    runtime = NumpyRuntime(whole_model(loaded))
    machine = ScriptedMachine("one-core", "disturbed", "two-core")
    timing = time_in_turn([runtime], random_images(loaded.input, 1), 40, machine)[0]
    account = Account.of(timing.states)

    found = report(loaded, "auto", "fp32", runtime, 1, timing, account)
    table = as_table([found], account)

    assert (found["runs"], found["machine"]["state"]) == (20, "two-core")
    assert {state: each["runs"] for state, each in found["states"].items()} == {
        "two-core": 20, "one-core": 10, "disturbed": 10,
    }  # fmt: skip
    assert "two-core, in 20 of 40 runs; left out: 10 one-core, 10 disturbed" in table
    assert [line.split(":")[0] for line in table.splitlines()[-2:]] == ["auto, two-core", "auto, one-core"]


@pytest.mark.deep
def test_two_variants_are_set_side_by_side(model: Path) -> None:
    done = edged_here("bench", "--model", model, "--runs", 2, "--compare", "naive")

    assert done.returncode == 0
    words = [line.split()[0] for line in done.stdout.splitlines()[1:5]]
    assert words == ["convolution", "auto", "naive", "naive"]


@pytest.mark.deep
def test_random_weights_are_announced() -> None:
    done = edged_here("bench", "--model", "resnet18", "--size", 32, "--runs", 1, "--device", "numpy", "--json")

    assert "random weights" in done.stderr
    assert json.loads(done.stdout)["random_weights"]


@pytest.mark.parametrize(
    ("mistake", "code", "words"),
    [
        (
            ("--conv", "fancy"),
            2,
            "there are: auto, bfloat16, vector, winograd, general, frequencies, depthwise, naive",
        ),
        (("--device", "Voodoo"), 3, "no OpenCL device matches 'Voodoo'"),
        (("--runs", 0), 2, "--runs: '0' is not an integer of at least 1"),
        (("--batch", 65), 2, "--batch: expected 1 to 64 frames, found 65"),
        (("--device", "numpy", "--conv", "naive"), 2, "numpy has no variants"),
        (("--device", "numpy", "--precision", "fp16"), 2, "numpy computes in fp32"),
        (("--energy", "--images", "nowhere"), 2, "--images nowhere: expected a folder with pictures"),
        (("--images", "photos"), 2, "add --energy, or see the error of each layer by `edged verify MODEL"),
    ],
)
def test_a_mistake_is_one_clear_error(model: Path, mistake: tuple[str | int, ...], code: int, words: str) -> None:
    done = edged_here("bench", "--model", model, *mistake)

    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
