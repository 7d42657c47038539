"""Packed weights kept for the next start."""

import mmap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edged.config import Precision
from edged.engine import packed
from edged.engine.device import Device
from edged.engine.packed import plan_key
from edged.engine.planner import make_plan
from edged.engine.runtime import Runtime
from edged.engine.selection import Rules
from edged.errors import DeviceError
from edged.model.graph import Conv, Dense, Graph
from edged.model.model_part import ModelPart, whole_model
from edged.model.package import Model
from tests.engine.networks import RGB, random_images, small_network

SMALL = small_network()
UNREADABLE = replace(SMALL, recheck=lambda: pytest.fail("the original weights are read"))
IMAGES = random_images(RGB)


@pytest.fixture(name="cache")
def cache_fixture(tmp_path: Path, programs_directory: Path) -> Path:
    """A folder of programs that are compiled already, with no weights beside it."""
    (tmp_path / "programs").symlink_to(programs_directory)
    return tmp_path / "programs"


def outputs(device: Device, cache: Path, graph: Graph = SMALL, precision: Precision = "fp32") -> bytes:
    runtime = Runtime(
        whole_model(Model("small", "some model", (), graph, RGB)), device, cache=cache, precision=precision
    )
    return runtime.submit(IMAGES).wait().outputs.tobytes()


@pytest.mark.parametrize("precision", ["fp32", "fp16-weights"])
def test_a_second_start_reads_no_original_weight(device: Device, cache: Path, precision: Precision) -> None:
    first = outputs(device, cache, precision=precision)

    assert outputs(device, cache, UNREADABLE, precision) == first


@pytest.mark.parametrize("position", [100, 50, 40, 5000, -5000, -1])
def test_damaged_weights_are_packed_again(device: Device, cache: Path, position: int) -> None:
    expected = outputs(device, cache)
    (entry,) = (cache.parent / "weights").iterdir()
    whole = entry.read_bytes()
    damaged = bytearray(whole)
    damaged[position] ^= 1
    entry.write_bytes(damaged)

    assert outputs(device, cache) == expected
    if position != 100:  # which is between checksum and content, where nothing is
        assert entry.read_bytes() == whole


def scaled(name: str, factor: float) -> Graph:
    """The network with other weights of one operator."""
    (found,) = (each for each in SMALL.operators if each.name == name)
    assert isinstance(found, Conv | Dense)
    changed = replace(found, weight=np.float32(factor) * found.weight)
    return replace(SMALL, operators=tuple(changed if each is found else each for each in SMALL.operators))


def test_weights_beyond_float16_are_an_error_that_says_what_to_use(device: Device, cache: Path) -> None:
    graph = scaled("dense", 1e7)

    assert outputs(device, cache, graph)
    with pytest.raises(
        DeviceError, match=r"weights of dense reach \S+, and float16 ends at 65504: use precision fp32"
    ):
        outputs(device, cache, graph, "fp16-weights")


@pytest.mark.parametrize(("factor", "warnings"), [(1.0, 0), (1e-6, 1)])
def test_weights_that_float16_rounds_away_are_a_warning(
    device: Device, cache: Path, caplog: pytest.LogCaptureFixture, factor: float, warnings: int
) -> None:
    outputs(device, cache, scaled("side", factor), "fp16-weights")

    found = [record.message for record in caplog.records if "float16 changes the weights of" in record.message]
    assert len(found) == warnings
    assert all(each.endswith("as they are small: use precision fp32 or bf16") for each in found)


def test_memory_for_weights_grows(device: Device, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = outputs(device, cache)
    monkeypatch.setattr(packed, "LEAST_BYTES", mmap.PAGESIZE)

    assert outputs(device, cache) == first


def test_a_folder_that_cannot_be_written_is_logged(
    device: Device, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (cache.parent / "weights").write_text("")

    assert np.isfinite(np.frombuffer(outputs(device, cache), np.float32)).all()
    assert "packed weights cannot be kept" in caplog.text


def test_without_a_model_nothing_is_kept(device: Device, cache: Path) -> None:
    Runtime(ModelPart(SMALL, RGB), device, cache=cache)

    assert not (cache.parent / "weights").exists()


def test_the_key_knows_all_that_the_weights_depend_on(device: Device) -> None:
    def key(model: str = "a", scale: float = 1 / 255, precision: Precision = "fp32", conv: str = "auto") -> str:
        model_input = replace(RGB, scale=scale)
        return plan_key(
            make_plan(ModelPart(SMALL, model_input), device, 1, precision, Rules(conv)), model, model_input
        )

    others = [key("b"), key(scale=0.5), key(precision="fp16-weights"), key(conv="naive")]

    assert key() == key()
    assert len({key(), *others}) == 5
