"""`edged bench` as a user runs it."""

import json
from pathlib import Path

import pytest

from tests.cli.command import edged
from tests.cli.models import small_network

KEYS = {"model", "size", "batch", "device", "precision", "runs", "seconds", "host_seconds", "kernels"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a small network."""
    return small_network(tmp_path_factory.mktemp("model") / "small.onnx")


def test_a_program_reads_one_object(model: Path) -> None:
    found = json.loads(edged("bench", "--model", model, "--batch", 2, "--runs", 5, "--json").stdout)

    assert found.keys() >= KEYS
    assert (found["size"], found["batch"], found["runs"]) == (16, 2, 5)
    assert found["seconds"]["min"] <= found["seconds"]["median"] <= found["seconds"]["p99"]


def test_two_variants_are_set_side_by_side(model: Path) -> None:
    done = edged("bench", "--model", model, "--runs", 2, "--compare", "naive")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["convolution", "auto", "naive", "naive"]


def test_random_weights_are_announced() -> None:
    done = edged("bench", "--model", "resnet18", "--size", 32, "--runs", 1, "--device", "numpy", "--json")

    assert "random weights" in done.stderr
    assert json.loads(done.stdout)["random_weights"]


@pytest.mark.parametrize(
    ("mistake", "code", "words"),
    [
        (("--conv", "fancy"), 2, "there are: auto, vector, winograd, general, depthwise, naive"),
        (("--device", "Voodoo"), 3, "no OpenCL device fits 'Voodoo'"),
        (("--runs", 0), 2, "--runs of 1 or more"),
        (("--device", "numpy", "--conv", "naive"), 2, "numpy has no variants"),
    ],
)
def test_a_mistake_is_one_clear_error(model: Path, mistake: tuple[str | int, ...], code: int, words: str) -> None:
    done = edged("bench", "--model", model, *mistake)

    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
