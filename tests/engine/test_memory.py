"""Tensors in one arena."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.memory import Span, arrange, check_indices, lifetimes
from edged.engine.planner import make_plan
from edged.errors import ModelError
from edged.model.model_part import ModelPart
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from tests.engine.networks import RGB

SPANS = st.lists(
    st.tuples(st.integers(1, 50), st.integers(0, 20), st.integers(0, 8)).map(
        lambda drawn: (drawn[0], (drawn[1], drawn[1] + drawn[2]))
    ),
    max_size=25,
)


def tensors(drawn: list[tuple[int, Span]]) -> dict[Tensor, Span]:
    return {Tensor(f"t{i}", 1, channels, 3, 3, 1): span for i, (channels, span) in enumerate(drawn)}


@given(SPANS)
def test_tensors_that_live_together_never_overlap(drawn: list[tuple[int, Span]]) -> None:
    spans = tensors(drawn)

    arena = arrange(spans, alignment=128)

    places = [(arena.offsets[t.name], arena.offsets[t.name] + t.nbytes, span) for t, span in spans.items()]
    for index, (start, end, span) in enumerate(places):
        assert start % 128 == 0
        assert end <= arena.size
        for other_start, other_end, other in places[:index]:
            together = span[0] <= other[1] and other[0] <= span[1]
            assert not together or end <= other_start or other_end <= start


def test_a_chain_needs_two_tensors_at_a_time() -> None:
    chain = {Tensor(f"t{i}", 1, 32, 4, 4, 16): (i, i + 1) for i in range(10)}

    assert arrange(chain, alignment=128).size == 2 * 32 * 4 * 4 * 4


@pytest.mark.parametrize(
    ("depth", "width", "height", "batch"),
    [
        (18, 224, 224, 1),
        (18, 97, 33, 16),
        (34, 64, 64, 4),
        (50, 120, 120, 1),
        (50, 224, 160, 8),
        (101, 320, 320, 2),
    ],
)
def test_a_resnet_needs_hardly_more_than_what_lives_at_once(
    device: Device, depth: int, width: int, height: int, batch: int
) -> None:
    graph = simplify(random_resnet(depth, width, height))
    plan = make_plan(ModelPart(graph, replace(RGB, width=width, height=height)), device, batch)

    assert plan.arena.size <= 1.1 * most_at_once(lifetimes(plan.launches))


def most_at_once(spans: dict[Tensor, Span]) -> int:
    """Bytes of the tensors that live during the fullest launch: no arrangement can do with less."""
    return max(
        sum(tensor.nbytes for tensor, (first, last) in spans.items() if first <= launch <= last)
        for launch in range(1 + max(last for _, last in spans.values()))
    )


def test_what_an_int_cannot_index_is_refused(device: Device) -> None:
    graph = simplify(random_resnet(18, 640, 640))
    most = 2**31 // (64 * 320 * 320)
    wanted = replace(RGB, width=640, height=640)

    check_indices(graph.name, make_plan(ModelPart(graph, wanted), device, most // 2).launches)
    with pytest.raises(ModelError, match=r"would hold \d+ values for a batch of 654; .*smaller batch"):
        check_indices(graph.name, make_plan(ModelPart(graph, wanted), device, 2 * most).launches)
