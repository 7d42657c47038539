"""What moves values is rewritten so that they move less often; the numbers stay."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import (
    Concat,
    Conv,
    Flatten,
    Float32,
    Graph,
    MaxPool,
    Operator,
    Quantize,
    QuantizedConv,
    Rearrange,
)
from edged.model.movement_passes import fuse_slices, join_moves, nest_pools
from edged.model.passes import simplify
from edged.model.shapes import make_graph

CHANNELS, HEIGHT, WIDTH = 3, 8, 6
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2, CHANNELS, HEIGHT, WIDTH))
PHASES = ((0, 0), (1, 0), (0, 1), (1, 1))


def normal(*shape: int) -> Float32:
    return RANDOM.standard_normal(shape, np.float32)


def network(*operators: Operator) -> Graph:
    return make_graph("test", "input", (CHANNELS, HEIGHT, WIDTH), operators)


def kinds(graph: Graph) -> Sequence[type[Operator]]:
    return [type(operator) for operator in graph.operators]


def assert_same_numbers(before: Graph, after: Graph) -> None:
    expected = reference.run(before, X, np.float64)
    np.testing.assert_allclose(reference.run(after, X, np.float64), expected, rtol=1e-5, atol=1e-5)


def slice_from(top: int, left: int, source: str = "input") -> Rearrange:
    """Every second pixel of the input from (top, left) on."""
    shape = (CHANNELS, HEIGHT // 2, WIDTH // 2)
    strides = (HEIGHT * WIDTH, 2 * WIDTH, 2)
    name = f"slice {top} {left}"
    return Rearrange(name, (source,), name, shape, shape, strides, top * WIDTH + left)


def focus(phases: Sequence[tuple[int, int]] = PHASES, **keys: Any) -> list[Operator]:
    slices = [slice_from(*phase) for phase in phases]
    weight = normal(5, CHANNELS * len(slices), 3, 3)
    conv = Conv("conv", ("joined",), "conv", weight, normal(5), **{"pads": (1, 1, 1, 1), **keys})
    return [*slices, Concat("joined", tuple(each.output for each in slices), "joined"), conv]


def test_a_convolution_of_steps_of_slices_is_one_of_the_images_steps() -> None:
    *slices, joined, _ = focus()
    weight = RANDOM.integers(-127, 128, (5, CHANNELS * len(slices), 3, 3)).astype(np.int8)
    bias, factor = RANDOM.integers(-99, 99, 5).astype(np.int32), np.full(5, 1e-3, np.float32)
    conv = QuantizedConv("conv", ("steps",), "conv", weight, bias, factor, pads=(1, 1, 1, 1))
    before = network(*slices, joined, Quantize("steps", ("joined",), "steps", 0.05, (-128, 127)), conv)

    after = simplify(before)

    assert kinds(after) == [Quantize, QuantizedConv]
    assert_same_numbers(before, after)


@pytest.mark.parametrize("keys", [{}, {"strides": (2, 1)}, {"pads": (0, 1, 2, 0)}], ids=str)
def test_a_convolution_of_an_images_slices_is_one_of_the_image(keys: dict[str, Any]) -> None:
    before = network(*focus(**keys))

    after = simplify(before)

    assert kinds(after) == [Conv]
    assert_same_numbers(before, after)


def test_slices_in_two_steps_are_known_too() -> None:
    rows = Conv(
        "rows", ("input",), "rows", np.eye(3, dtype=np.float32)[:, :, None, None], np.zeros(3, np.float32), (2, 1)
    )
    columns = Rearrange("slice 0 1", ("rows",), "slice 0 1", (3, 4, 3), (3, 4, 3), (4 * WIDTH, WIDTH, 2), offset=1)
    first, second, _, last, *others = focus()
    before = network(rows, first, second, columns, last, *others)

    after = simplify(before)

    assert kinds(after) == [Conv]
    assert_same_numbers(before, after)


@pytest.mark.parametrize(
    "operators",
    [focus(PHASES[:3]), focus((*PHASES[:3], PHASES[0])), focus(dilations=(2, 2), pads=(2, 2, 2, 2))],
    ids=["one is absent", "one comes twice", "dilated"],
)
def test_slices_that_are_no_image_stay(operators: list[Operator]) -> None:
    before = network(*(dict.fromkeys(operators)))

    assert kinds(fuse_slices(before)) == kinds(before)


def turned(name: str, source: str, channels: int, pixels: int) -> Rearrange:
    """[channels, pixels] as [pixels, channels]."""
    return Rearrange(name, (source,), name, (pixels, 1, channels), (pixels, channels), (1, pixels))


def test_rearranged_parts_are_flattened_as_they_move() -> None:
    weights = [Conv(name, ("input",), name, normal(4, CHANNELS, 1, 1), normal(4)) for name in "ab"]
    moves = [turned(f"{each.name} turned", each.output, 4, HEIGHT * WIDTH) for each in weights]
    joined = Concat("joined", tuple(each.output for each in moves), "joined")
    before = network(*weights, *moves, joined, Flatten("flat", ("joined",), "flat"))

    after = simplify(before)

    assert kinds(after) == [Conv, Conv, Rearrange, Rearrange, Concat]
    assert_same_numbers(before, after)


def test_a_move_of_a_move_is_one() -> None:
    pixels = HEIGHT * WIDTH
    there = turned("there", "input", CHANNELS, pixels)
    back = Rearrange("back", ("there",), "back", (2, 1, pixels), (2, pixels), (1, CHANNELS))  # but for a channel
    before = network(there, back)

    after = simplify(before)

    assert kinds(after) == [Rearrange]
    assert_same_numbers(before, after)


def test_moves_that_no_strides_describe_stay() -> None:
    there = turned("there", "input", CHANNELS, HEIGHT * WIDTH)
    some = Rearrange("some", ("there",), "some", (1, 1, 5), (5,), (2,))  # of rows of three, every second value

    assert kinds(join_moves(network(there, some))) == [Rearrange, Rearrange]


def pool(name: str, size: int, source: str = "input", stride: int = 1) -> MaxPool:
    return MaxPool(name, (source,), name, (size, size), (stride, stride), (size // 2,) * 4)


def test_pools_of_growing_windows_read_the_smaller_ones() -> None:
    pools = [pool(name, size) for name, size in (("small", 3), ("middle", 5), ("large", 13))]
    before = network(*pools, Concat("joined", ("input", *(each.output for each in pools)), "joined"))

    after = simplify(before)

    windows = [each.kernel for each in after.operators if isinstance(each, MaxPool)]
    assert windows == [(3, 3), (3, 3), (9, 9)]
    assert np.array_equal(reference.run(after, X), reference.run(before, X))


def test_pools_that_leave_out_pixels_stay_as_they_are() -> None:
    pools = [pool("small", 3, stride=2), pool("large", 5, stride=2)]
    before = network(*pools, Concat("joined", ("small", "large"), "joined"))

    assert [each.inputs for each in nest_pools(before).operators] == [each.inputs for each in before.operators]
