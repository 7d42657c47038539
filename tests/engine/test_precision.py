"""Weights and tensors that are stored in two bytes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.layout import Element
from edged.engine.runtime import Runtime
from edged.engine.variants import VARIANTS
from edged.engine.variants.variant import AnyVariant
from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, MaxPool, Operator, Softmax
from edged.model.model_part import ModelPart
from tests.engine.lab import CLOSE, Float32, Lab, assert_close
from tests.engine.networks import RGB, random_images, small_network

PLACES = np.random.default_rng(3)
ROUNDED = 2e-3  # of the range, where what is stored is no whole number: Winograd's weights, what Softmax writes
ROUNDED_TO_8_BITS = 6e-3
VARIANTS_THAT_ROUND = ("conv_winograd", "conv_frequencies", "softmax")
NETWORK_CLOSE: dict[Precision, float] = {"fp16-weights": 2e-3, "fp16": 5e-3, "bf16": 3e-2}


def whole(*shape: int) -> Float32:
    """Small whole numbers: a half holds them, and sums of their products, exactly."""
    return PLACES.integers(-3, 4, shape).astype(np.float32)


def conv(channels: tuple[int, int], size: int, **attributes: object) -> Conv:
    weight = whole(channels[1], channels[0], size, size)
    return Conv("conv", ("x",), "y", weight, whole(channels[1]), activation=RELU, **attributes)  # type: ignore[arg-type]


IMAGE = whole(2, 20, 6, 8)
FEATURES = whole(2, 37)
SHORTCUT = replace(conv((20, 18), 1), inputs=("x", "shortcut"))
EXAMPLES: tuple[tuple[Operator, tuple[Float32, ...]], ...] = (
    (conv((20, 18), 3, pads=(1, 1, 1, 1)), (IMAGE,)),
    (conv((20, 18), 3, pads=(1, 1, 1, 1), strides=(2, 2)), (IMAGE,)),
    (SHORTCUT, (IMAGE, whole(2, 18, 6, 8))),
    (conv((1, 20), 3, pads=(1, 1, 1, 1), groups=20), (IMAGE,)),
    (Dense("dense", ("x",), "y", whole(9, 37), whole(9)), (FEATURES,)),
    (Add("add", ("x", "z"), "y"), (IMAGE, IMAGE)),
    (AveragePool("pool", ("x",), "y", (2, 2), (2, 2)), (IMAGE,)),
    (Flatten("flatten", ("x",), "y"), (IMAGE,)),
    (MaxPool("pool", ("x",), "y", (3, 3), (2, 2), (1, 1, 1, 1)), (IMAGE,)),
    (Activate("relu", ("x",), "y", RELU), (IMAGE,)),
    (Softmax("softmax", ("x",), "y"), (FEATURES,)),
)
# each width of a block of halves, and each other way to store at one or two: all of them find nothing more
STORED = (
    (1, Element.FLOAT32),
    *((1, Element.FLOAT16), (4, Element.FLOAT16), (8, Element.FLOAT16), (16, Element.FLOAT16)),
    *((4, Element.BFLOAT16), (16, Element.BFLOAT16)),
)
ALL = [(kind, variant) for kind, variants in VARIANTS.items() for variant in variants]


@pytest.mark.parametrize(
    ("block", "element"),
    STORED,
    ids=[f"{block}-{element}" for block, element in STORED],
)
@pytest.mark.deep
@pytest.mark.parametrize(("kind", "variant"), ALL, ids=[variant.name for _, variant in ALL])
def test_what_a_half_holds_exactly_is_computed_as_ever(
    lab: Lab, kind: type[Operator], variant: AnyVariant, block: int, element: Element
) -> None:
    for operator, inputs in EXAMPLES:
        layout: dict[str, Any] = {"block": block, "half_weights": True, "element": element}
        if isinstance(operator, kind) and variant.can_compute(lab.site(operator, inputs, **layout)):
            found = lab.compute(variant, operator, inputs, **layout)
            expected = reference.compute(operator, *(x.astype(np.float64) for x in inputs))
            close = ROUNDED if variant.name in VARIANTS_THAT_ROUND else CLOSE
            assert_close(found, expected, ROUNDED_TO_8_BITS if element is Element.BFLOAT16 else close)


@pytest.mark.parametrize(
    "precision", ["fp16-weights", *(pytest.param(each, marks=pytest.mark.deep) for each in ("fp16", "bf16"))]
)
def test_a_network_is_close_to_the_reference(
    device: Device, programs_directory: Path, precision: Precision
) -> None:
    network, images = small_network(), random_images(RGB)
    runtime = Runtime(ModelPart(network, RGB), device, precision=precision, cache=programs_directory)

    found = runtime.submit(images).wait().outputs

    expected = reference.run(network, reference.prepare(images, RGB), np.float64)
    assert_close(found, expected, NETWORK_CLOSE[precision])
    assert np.abs(found - expected).max() > 0  # it did round


@pytest.mark.deep
def test_what_a_half_cannot_hold_is_not_hidden(device: Device, programs_directory: Path) -> None:
    network = small_network()
    network.operators[0].bias[3] = 1e5  # type: ignore[attr-defined]
    images = random_images(RGB)

    fp32 = Runtime(ModelPart(network, RGB), device, cache=programs_directory).submit(images).wait().outputs
    fp16 = (
        Runtime(ModelPart(network, RGB), device, precision="fp16", cache=programs_directory)
        .submit(images)
        .wait()
        .outputs
    )

    assert np.isfinite(fp32).all()
    assert np.isnan(fp16).any()
