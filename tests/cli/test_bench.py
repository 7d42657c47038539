"""`edged bench` as a user runs it."""

import json

from tests.cli.command import edged

SMALL = ("bench", "--model", "resnet18", "--size", "40x32", "--runs", "2")


def test_a_program_reads_one_object() -> None:
    done = edged(*SMALL, "--batch", "2", "--json")

    found = json.loads(done.stdout)
    assert found.keys() >= {
        "model",
        "size",
        "batch",
        "device",
        "precision",
        "runs",
        "seconds",
        "host_seconds",
        "kernels",
    }
    assert (found["size"], found["batch"], found["runs"], found["kernels"]) == ([40, 32], 2, 2, 24)
    assert found["seconds"]["min"] <= found["seconds"]["median"] <= found["seconds"]["p99"]
    assert "random weights" in done.stderr


def test_two_variants_are_set_side_by_side() -> None:
    done = edged(*SMALL, "--compare", "naive")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "resnet18",
        "convolution",
        "auto",
        "naive",
        "naive",
    ]


def test_numpy_needs_no_opencl() -> None:
    assert json.loads(edged(*SMALL, "--device", "numpy", "--json").stdout)["kernels"] == 0


def test_mistakes_are_one_clear_error() -> None:
    for mistake, code, words in (
        (("--conv", "fancy"), 2, "there are: auto, vector, general, naive"),
        (("--device", "Voodoo"), 3, "no OpenCL device fits 'Voodoo'"),
        (("--runs", "0"), 2, "--runs of 1 or more"),
        (("--device", "numpy", "--conv", "naive"), 2, "numpy has no variants"),
    ):
        done = edged(*SMALL, *mistake)
        assert (done.returncode, done.stdout) == (code, "")
        assert words in done.stderr
