"""A network on a device, compared with the reference."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from edged.config import ModelConfig, Precision
from edged.engine import runtime as runtime_module
from edged.engine.device import Device
from edged.engine.layout import Elements, Tensor, memory_for
from edged.engine.programs import source_of
from edged.engine.proving import Examined, examine
from edged.engine.runtime import Runtime
from edged.engine.selection import Rules
from edged.errors import DeviceError, DeviceMemoryError
from edged.model import reference
from edged.model.cuts import cut_after, part
from edged.model.graph import Add, AveragePool, Combine, Dense, Flatten, Graph, Rearrange, Softmax
from edged.model.model_part import ModelPart
from edged.model.package import Input, load_model
from edged.model.shapes import make_graph
from tests.cli import models
from tests.engine.lab import random
from tests.engine.networks import RGB, conv, random_images, small_network
from tests.engine.wrong_kernels import (
    MAX_IS_MIN,
    RELU_IS_MIN,
    WRONG_DENSE,
    WRONG_DENSE_SPLIT,
    WRONG_VECTOR,
    Change,
    wrong_kernel,
)

WRONG_VARIANTS: list[tuple[Change, str]] = [
    (MAX_IS_MIN, "auto"),
    (WRONG_DENSE, "auto"),
    (WRONG_VECTOR, "vector"),
    (("conv_general", "WEIGHT(channel) LOAD", "WEIGHT(channel) -LOAD"), "general"),
    (("conv_winograd", "BIAS_OF(block) + pixels[y]", "BIAS_OF(block) - pixels[y]"), "winograd"),
    (("conv_frequencies", "= bias[block]", "= -bias[block]"), "frequencies"),
    (("conv_naive", "sum = bias[channel]", "sum = 0"), "naive"),
    (("add", "y, x)) +", "y, x)) -"), "auto"),
    (("activate", "ACTIVATION_OF(v), block", "-ACTIVATION_OF(v), block"), "auto"),
    (("average_pool", "sum / count", "sum"), "auto"),
    (("flatten", "? LOAD(", "? -LOAD("), "auto"),
    (("softmax", "v * inverse", "v"), "auto"),
]
# by which a CPU flattens; the network has nothing else to rearrange
REARRANGED: Change = ("rearrange", "STORE_VECTOR(OUT, v", "STORE_VECTOR(OUT, -v")


def examined(
    device: Device,
    programs: Path,
    *,
    graph: Graph | None = None,
    batch: int = 1,
    precision: Precision = "fp32",
    conv: str = "auto",
) -> Examined:
    """What is found of a network, by default one with every operator."""
    network, chooser = graph or small_network(), Rules(conv)
    runtime = Runtime(
        ModelPart(network, RGB), device, batch=batch, precision=precision, chooser=chooser, cache=programs
    )
    try:
        frames = random_images(RGB, batch)
        return examine(runtime, ModelPart(network, RGB), device, frames, precision=precision, chooser=chooser)
    finally:
        runtime.close()


@pytest.mark.parametrize(
    ("batch", "precision"),
    [(1, "fp32"), (3, "fp32"), (1, "fp16-weights"), pytest.param(3, "fp16", marks=pytest.mark.deep)],
)
def test_a_device_that_is_right_is_found_right(
    network_device: Device, programs_directory: Path, batch: int, precision: Precision
) -> None:
    found = examined(network_device, programs_directory, batch=batch, precision=precision)

    assert found.wrong == ()
    assert 0 < found.error < 1e-2
    assert {"max_pool", "add", "activate", "average_pool", "flatten", "softmax"} < set(found.variants)


@pytest.mark.deep
def test_weights_that_float16_rounds_away_are_no_mistake_of_the_kernels(
    network_device: Device, programs_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    operators = (
        conv("tiny", ("image",), (3, 8), 3),
        Flatten("flat", ("tiny",), "flat"),
        Dense("dense", ("flat",), "dense", random(5, 8 * 39 * 31), random(5) * np.float32(1e-6)),
    )
    tiny = replace(operators[0], weight=operators[0].weight * np.float32(1e-7), bias=np.zeros(8, np.float32))
    graph = make_graph("tiny", "image", (3, 39, 31), (tiny, *operators[1:]))

    found = examined(network_device, programs_directory, graph=graph, precision="fp16-weights")

    assert found.error > 1e-2
    assert found.wrong == ()
    assert "rounding alone changes its scores" in caplog.text


@pytest.mark.parametrize("last", ["multiply", "add", "divide", "subtract"])
def test_a_constant_behind_the_scores_is_compared_too(device: Device, programs_directory: Path, last: str) -> None:
    operators = (
        AveragePool("mean", ("image",), "mean", (39, 31)),
        Flatten("flat", ("mean",), "flat"),
        Softmax("softmax", ("flat",), "softmax"),
        Combine(
            "last", ("softmax",), "last", last, np.arange(1, 4, dtype=np.float32), is_reversed=last == "divide"
        ),
    )

    found = examined(device, programs_directory, graph=make_graph("scaled", "image", (3, 39, 31), operators))

    assert (found.wrong, "combine" in found.variants) == ((), True)


def test_features_beside_the_channels_of_a_pixel_are_compared_too(
    device: Device, programs_directory: Path
) -> None:
    operators = (
        AveragePool("mean", ("image",), "mean", (39, 31)),
        Flatten("flat", ("mean",), "flat"),
        Softmax("softmax", ("flat",), "softmax"),
        Flatten("again", ("mean",), "again"),
        Add("sum", ("softmax", "again"), "sum"),
    )

    found = examined(device, programs_directory, graph=make_graph("sum", "image", (3, 39, 31), operators))

    assert (found.wrong, "add" in found.variants) == ((), True)


def test_an_operator_on_windows_of_an_image_is_compared_too(device: Device, programs_directory: Path) -> None:
    rows, columns = 39, 31
    factors = np.array([2, 3, 5], np.float32).reshape(3, 1, 1, 1)
    operators = (
        Rearrange("windows", ("image",), "windows", (3, 3, 13, columns), (3 * rows * columns,), (1,)),
        Combine("scaled", ("windows",), "scaled", "multiply", factors),
        Rearrange("image_again", ("scaled",), "image_again", (3, rows, columns), (3 * rows * columns,), (1,)),
        AveragePool("mean", ("image_again",), "mean", (rows, columns)),
        Flatten("flat", ("mean",), "flat"),
    )

    found = examined(
        device, programs_directory, graph=make_graph("windows", "image", (3, rows, columns), operators)
    )

    assert (found.wrong, "combine" in found.variants) == ((), True)


@pytest.mark.parametrize(("file", "right", "wrong"), [REARRANGED, *(each for each, _ in WRONG_VARIANTS)])
def test_each_line_that_is_made_wrong_is_in_its_kernel(file: str, right: str, wrong: str) -> None:
    with wrong_kernel((file, right, wrong)):
        assert wrong in source_of(file)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("change", "conv"), WRONG_VARIANTS, ids=lambda value: value[0] if isinstance(value, tuple) else ""
)
def test_a_wrong_variant_is_named_and_no_other(
    network_device: Device, programs_directory: Path, change: Change, conv: str
) -> None:
    with wrong_kernel(change, *([REARRANGED] if change[0] == "flatten" else [])):
        found = examined(network_device, programs_directory, conv=conv)

    assert {wrong.variant for wrong in found.wrong} == {change[0]}
    assert all(wrong.detail.startswith("error ") for wrong in found.wrong)


@pytest.mark.deep
def test_what_all_variants_share_is_wrong_in_each_that_uses_it(
    network_device: Device, programs_directory: Path
) -> None:
    with wrong_kernel(RELU_IS_MIN):
        found = examined(network_device, programs_directory)

    assert "activate" in {wrong.variant for wrong in found.wrong}
    assert any(wrong.variant.startswith("conv_") for wrong in found.wrong)


def test_a_device_that_prepares_pictures_wrongly_is_refused(
    network_device: Device, programs_directory: Path
) -> None:
    change = ("prepare", "* normalize[c] +", "* normalize[c] -")
    with wrong_kernel(change), pytest.raises(DeviceError, match="prepares pictures wrongly"):
        examined(network_device, programs_directory)


def test_a_part_behind_a_cut_is_compared_too(network_device: Device, programs_directory: Path) -> None:
    network = small_network()
    behind = part(network, cut_after(network, "pool"), None)
    frames = np.abs(np.random.default_rng(0).standard_normal((2, *behind.shapes[behind.input]), np.float32))
    with wrong_kernel(WRONG_DENSE, WRONG_DENSE_SPLIT):
        runtime = Runtime(ModelPart(behind, None), network_device, batch=2, cache=programs_directory)
        found = examine(
            runtime, ModelPart(behind, None), network_device, frames, precision="fp32", chooser=Rules()
        )
        runtime.close()

    [wrong] = found.wrong
    assert wrong.variant in ("dense", "dense_split")


def test_what_reads_the_output_of_a_host_operator_is_compared(
    network_device: Device, programs_directory: Path, tmp_path: Path
) -> None:
    sine = models.small_network(tmp_path / "sine.onnx", activation="Sin")  # no kernel computes it
    model = load_model(ModelConfig(path=sine))
    part, images = ModelPart(model.graph, model.input), random_images(model.input)
    runtime = Runtime(part, network_device, cache=programs_directory)

    with wrong_kernel(("average_pool", "sum / count", "sum")):
        wrong = Runtime(part, network_device, cache=programs_directory)
    found = [
        examine(each, part, network_device, images, precision="fp32", chooser=Rules()) for each in (runtime, wrong)
    ]

    runtime.close()
    wrong.close()
    assert [[one.variant for one in each.wrong] for each in found] == [[], ["average_pool"]]


def test_without_memory_for_the_copies_the_scores_alone_are_compared(
    network_device: Device,
    programs_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(runtime_module, "memory_for", no_memory)

    found = examined(network_device, programs_directory, batch=3)

    assert not found.is_complete
    assert found.error < 1e-3
    [warning] = caplog.messages
    assert "its operators were not compared: too little memory" in warning
    assert "Unable to allocate 512. MiB" in warning


def test_without_memory_for_the_copies_a_wrong_device_is_not_used(
    network_device: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_module, "memory_for", no_memory)

    with (
        wrong_kernel(WRONG_DENSE, WRONG_DENSE_SPLIT),
        pytest.raises(DeviceMemoryError, match=r"wrongly .* too little memory"),
    ):
        examined(network_device, programs_directory)


def test_without_memory_for_the_reference_a_warning_says_that_nothing_was_compared(
    network_device: Device,
    programs_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(reference, "compute", no_memory)

    found = examined(network_device, programs_directory)

    assert not found.is_complete
    [warning] = caplog.messages
    assert "used without a comparison with the reference: too little memory" in warning


def test_of_a_large_batch_the_tensors_of_two_frames_alone_are_copied(
    network_device: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[int] = []

    def record(tensor: Tensor, frames: int) -> Elements:
        copied.append(frames)
        return memory_for(tensor, frames)

    monkeypatch.setattr(runtime_module, "memory_for", record)

    assert examined(network_device, programs_directory, batch=5).is_complete
    assert {*copied} == {2}


def no_memory(*_: object) -> NoReturn:
    """As NumPy says it."""
    raise MemoryError("Unable to allocate 512. MiB for an array")


def test_a_network_that_rounding_alone_changes_is_no_fault_of_the_device(
    network_device: Device, programs_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = examined(network_device, programs_directory, graph=ill_conditioned(RGB))

    assert found.wrong == ()
    assert found.error > 1e-3
    assert "rounding alone changes its scores" in caplog.text


def ill_conditioned(model_input: Input) -> Graph:
    """Its scores are differences of large numbers that are almost equal."""
    copies = conv("copies", ("image",), (3, 16), 1)
    copies.weight[8:] = copies.weight[:8]
    copies.bias[8:] = copies.bias[:8]
    half = 8 * model_input.height * model_input.width
    weight = np.float32(1e3) * np.abs(random(4, half))
    operators = (
        copies,
        Flatten("flat", ("copies",), "flat"),
        Dense("dense", ("flat",), "dense", np.concatenate([weight, -weight], axis=1), random(4)),
    )
    return make_graph("ill-conditioned", "image", (3, model_input.height, model_input.width), operators)
