"""`edged inspect`: what a model wants, what it costs, what is missing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from edged.cli import run_command_line
from edged.config import ModelConfig
from edged.model.package import load_model
from tests.cli import models
from tests.model.onnx_files import Network

PAPER_VGG16 = {"parameters": 138_357_544, "macs": 15_470_264_320}  # Simonyan and Zisserman: 138 million
SQUEEZENET = {"parameters": 1_235_496, "macs": 349_151_936}  # version 1.1 of its authors: 1.2 million


def inspect(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """What `edged inspect --json` prints."""
    assert run_command_line(["inspect", *map(str, arguments), "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("name", "cost"),
    [("squeezenet1_1", SQUEEZENET), pytest.param("vgg16", PAPER_VGG16, marks=pytest.mark.deep)],
)
def test_a_named_network_costs_what_its_authors_say(
    name: str, cost: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    found = inspect(capsys, name)

    assert {key: found[key] for key in cost} == cost
    assert sum(layer["parameters"] for layer in found["layers"]) == cost["parameters"]
    assert sum(layer["activation_bytes"] for layer in found["layers"]) == found["activation_bytes"]
    first = found["layers"][0]
    assert first["kind"].startswith("Conv 3×3")
    assert first["activation_bytes"] < found["peak_bytes"] < found["activation_bytes"]


def test_the_table_of_layers_is_printed_with_its_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    assert run_command_line(["inspect", str(model), "--preprocess", "imagenet"]) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "input image: FLOAT [1, 3, 16, 16]" in lines
    assert "a Conv 3×3, relu 8×16×16 224 55,296 8,192" in lines
    assert "scores Dense 5 45 40 20" in lines
    assert "sum 269 55,336 8,276" in lines
    assert any(
        "imagenet: resize the shorter side to 18" in line and "from the command line" in line for line in lines
    )


def test_the_lines_to_paste_are_a_config_with_comments_on_what_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    assert run_command_line(["inspect", str(model), "--scale", "1/255", "--mean", "0.5,0.5,0.5"]) == 0

    section = capsys.readouterr().out.rpartition("\nmodel:")
    pasted = ModelConfig(**yaml.safe_load("model:" + section[2])["model"])
    assert load_model(pasted).input.mean == (0.5, 0.5, 0.5)
    assert "# labels: labels.txt" in section[2]
    assert "# preprocess" not in section[2]


def test_a_file_that_says_nothing_of_its_pictures_gets_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    assert run_command_line(["inspect", str(model)]) == 0

    printed = capsys.readouterr()
    assert "warning: nothing says how pictures are prepared" in printed.err
    assert "# preprocess: unit" in printed.out
    assert "none: the 5 classes are numbered" in printed.out


def test_shapes_that_contradict_each_other_get_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.contradictory(tmp_path / "model.onnx")

    for _ in range(2):  # the second time the network is kept
        assert run_command_line(["inspect", str(model), "--preprocess", "unit"]) == 0

        warning = " ".join(capsys.readouterr().err.split())
        assert warning == (
            f"edged: warning: {model}: node first (Conv) writes a of the shape [1, 8, 16, 16], but the file "
            "declares [1, 7, 16, 16] (and 1 more of its tensors): the shapes that nodes write count; if the "
            "answers are wrong, export the network again"
        )
    assert [each.partition(" writes ")[0] for each in inspect(capsys, model)["contradictions"]] == [
        "node first (Conv)",
        "node last (Gemm)",
    ]


def test_a_model_that_describes_itself_needs_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["inspect", "digits"]) == 0

    printed = capsys.readouterr()
    assert printed.out.endswith("\nmodel:\n  name: digits\n")
    assert "11: 0, 1, 2, …" in printed.out
    assert printed.err == ""


def test_all_missing_operators_are_listed_with_their_nodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = Network([1, 3, 8, 8])
    network.add("Bernoulli")
    network.add("Relu")
    network.add("NonZero")
    network.add("Bernoulli")
    model = network.save(tmp_path / "model.onnx")

    found = inspect(capsys, model, code=2)

    assert [(each["kind"], each["nodes"]) for each in found["file"]["missing"]] == [
        ("Bernoulli", ["bernoulli_0", "bernoulli_3"]),
        ("NonZero", ["nonzero_2"]),
    ]
    assert "bernoulli_0" in found["error"]
    assert "layers" not in found


def test_people_see_the_missing_operators_before_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.unsupported(tmp_path / "model.onnx")

    assert run_command_line(["inspect", str(model)]) == 2

    printed = capsys.readouterr()
    assert "operators that edged lacks:\n  Bernoulli (node second)" in printed.out
    assert printed.err.startswith(f"edged: {model}: node second (Bernoulli)")


def test_a_file_that_leaves_its_size_open_is_shown_with_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = Network(["N", 3, "height", "width"])
    network.add("GlobalAveragePool")
    model = network.save(tmp_path / "model.onnx")

    assert run_command_line(["inspect", str(model)]) == 2

    printed = capsys.readouterr()
    assert "input: FLOAT [N, 3, height, width]" in printed.out
    assert "(or --size)" in printed.err
    assert inspect(capsys, model, "--size", "20")["input"]["width"] == 20


def test_computing_on_constants_alone_is_not_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = Network([1, 3, 8, 8])
    pooled = network.add("GlobalAveragePool")
    network.add("Shape")
    batch = network.add("Slice", *(network.weight(np.array([end], np.int64)) for end in (0, 1)))
    rest = network.weight(np.array([-1], np.int64))
    shape = network.add("Concat", rest, reads=batch, axis=0)
    network.add("Reshape", shape, reads=pooled)
    model = network.save(tmp_path / "model.onnx")

    assert inspect(capsys, model)["file"]["missing"] == []
