"""`edged models`: sizes and costs side by side."""

import json
from pathlib import Path

import pytest

from edged.cli import run_command_line
from tests.model.onnx_files import Network


def rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, object]]:
    assert run_command_line(["models", *map(str, arguments), "--json"]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.deep
def test_vgg16_has_the_footprint_of_the_textbook(capsys: pytest.CaptureFixture[str]) -> None:
    (vgg,) = rows(capsys, "vgg16", "--size", 224)

    assert vgg["parameters"] == 138_357_544
    assert vgg["macs"] == 15_470_264_320
    assert vgg["activations"] == 15_112_168
    assert vgg["weight_bytes"] == 4 * 138_357_544
    assert vgg["file_bytes"] is None


def test_a_file_has_its_size_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = Network(["N", 3, 8, 8])
    network.add("Conv", network.normal(4, 3, 3, 3), pads=[1, 1, 1, 1])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path = network.save(tmp_path / "small.onnx")

    (small,) = rows(capsys, path)

    assert small["file_bytes"] == path.stat().st_size
    assert (small["model"], small["width"], small["height"]) == ("small", 8, 8)
    assert small["parameters"] == 4 * 3 * 9 + 4
    assert small["activations"] == 4 * 64 + 4 + 4


def test_the_table_has_a_line_for_each_model_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["models", "digits", "squeezenet1_1"]) == 0

    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["model", "input", "params", "file", "weights", "tensors", "MACs", "outputs"]
    assert [line.split()[0] for line in lines[:2]] == ["digits", "squeezenet1_1"]
    assert max(map(len, lines[:2])) <= 80


def test_a_model_that_is_not_there_is_an_error_that_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["models", "vgg17"]) == 2
    assert "there is no model vgg17: name one of digits, resnet18" in capsys.readouterr().err
