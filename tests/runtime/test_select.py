"""The device of a network, with its dot products where the network has use for them."""

from pathlib import Path

import pytest

from edged.config import ModelConfig, Precision
from edged.engine import instruction_trials
from edged.engine.device import Device
from edged.engine.instructions import AVX512_BF16
from edged.model.graph import Graph
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from edged.model.passes import simplify
from edged.runtime.select import device_for, opencl_device
from tests.model.quantized_files import network_of_all_kinds

TAKEN = (AVX512_BF16,)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the devices whose dot products were tried; each has all of `TAKEN`."""
    names: list[str] = []

    def trials(device: Device, cache: Path | None) -> dict[str, str]:
        names.append(device.name)
        return dict.fromkeys(TAKEN, instruction_trials.RIGHT)

    monkeypatch.setattr(instruction_trials, "trials", trials)
    return names


@pytest.fixture
def floats() -> Graph:
    return load_model(ModelConfig(name="digits")).graph


@pytest.fixture
def integers(tmp_path: Path) -> Graph:
    return simplify(read_onnx(network_of_all_kinds().save(tmp_path / "quantized.onnx")))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "fp16-weights"])
def test_a_network_of_floats_waits_for_no_trial(floats: Graph, tried: list[str], precision: Precision) -> None:
    device = device_for(floats, "cpu", precision)

    assert device == opencl_device("cpu")
    assert (device.instructions, tried) == ((), [])


def test_bfloat16_is_computed_by_what_was_tried(floats: Graph, tried: list[str]) -> None:
    device = device_for(floats, "cpu", "bf16")

    assert (device.instructions, tried) == (TAKEN, [device.name])


def test_a_quantized_network_is_computed_by_what_was_tried(integers: Graph, tried: list[str]) -> None:
    assert device_for(integers, "cpu", "fp32").instructions == TAKEN
