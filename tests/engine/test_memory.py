"""Tensors in one arena, where the inputs of a concatenation lie in its output."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.config import ModelConfig
from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.memory import (
    Arena,
    Share,
    Span,
    arrange,
    arrange_in_slots,
    check_indices,
    find_shares,
    lifetimes,
)
from edged.engine.planner import RULES, Plan, make_plan
from edged.engine.runtime import Runtime
from edged.engine.verifying import Verification
from edged.errors import ModelError
from edged.model.graph import Concat, Graph, Operator
from edged.model.model_part import ModelPart
from edged.model.package import load_model
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from edged.model.zoo import NETWORKS
from tests.engine.networks import RGB, assert_equals_reference, random_images
from tests.model.onnx_files import Network

SPANS = st.lists(
    st.tuples(st.integers(1, 50), st.integers(0, 20), st.integers(0, 8)).map(
        lambda drawn: (drawn[0], (drawn[1], drawn[1] + drawn[2]))
    ),
    max_size=25,
)

BLOCK = 8


def tensors(drawn: list[tuple[int, Span]]) -> dict[Tensor, Span]:
    return {Tensor(f"t{i}", 1, channels, 3, 3, 1): span for i, (channels, span) in enumerate(drawn)}


@pytest.mark.parametrize("place", [arrange, arrange_in_slots])
@given(drawn=SPANS)
def test_tensors_that_live_together_never_overlap(
    place: Callable[[dict[Tensor, Span], int], Arena], drawn: list[tuple[int, Span]]
) -> None:
    spans = tensors(drawn)

    arena = place(spans, 128)

    places = [(arena.offsets[t.name], arena.offsets[t.name] + t.nbytes, span) for t, span in spans.items()]
    for index, (start, end, span) in enumerate(places):
        assert start % 128 == 0
        assert end <= arena.size
        for other_start, other_end, other in places[:index]:
            together = span[0] <= other[1] and other[0] <= span[1]
            assert not together or end <= other_start or other_end <= start


@given(SPANS)
def test_slots_do_not_overlap_and_hold_whole_tensors(drawn: list[tuple[int, Span]]) -> None:
    spans = tensors(drawn)

    arena = arrange_in_slots(spans, alignment=128)

    ends = [start + size for start, size in arena.slots.items()]
    assert [*arena.slots, arena.size] == [0, *ends]
    assert all(tensor.nbytes <= arena.slots[arena.offsets[tensor.name]] for tensor in spans)


def test_a_device_with_memory_of_its_own_gets_slots(device: Device) -> None:
    graph = simplify(random_resnet(18, 64, 64))
    part = ModelPart(graph, replace(RGB, width=64, height=64))
    for unified in (True, False):
        plan = make_plan(part, replace(device, kind="gpu", unified_memory=unified))

        assert bool(plan.arena.slots) is not unified


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

    assert plan.arena.size <= largest_factor(device) * most_at_once(plan)


@pytest.mark.parametrize(
    "name", ["googlenet", "densenet121", "shufflenetv2", "squeezenet1_1", "mobilenetv3_large"]
)
def test_a_network_with_branches_needs_hardly_more_than_what_lives_at_once(device: Device, name: str) -> None:
    model_input = replace(RGB, width=224, height=224)
    plan = make_plan(ModelPart(simplify(NETWORKS[name](224, 224)), model_input), device)

    assert plan.arena.size <= largest_factor(device) * most_at_once(plan)


def largest_factor(device: Device) -> float:
    """Return the largest factor over what lives at once: slots take more, and blocks of channels on a GPU."""
    return 1.1 if device.kind == "cpu" else 1.4


def most_at_once(plan: Plan) -> int:
    """Return the bytes that live during the fullest launch: no arrangement can do with less.

    What lies in a joined tensor lives as long as that one is read; a joined tensor has no bytes of its own.
    """
    spans = lifetimes(plan.launches)
    last = {tensor.name: end for tensor, (_, end) in spans.items()}
    for output, inputs in reversed(list(plan.joined.items())):
        last.update((name, max(last.get(name, 0), last.get(output, 0))) for name in inputs)
    return max(
        sum(
            tensor.nbytes
            for tensor, (first, _) in spans.items()
            if first <= launch <= last[tensor.name] and tensor.name not in plan.joined
        )
        for launch in range(len(plan.launches))
    )


def test_what_an_int_cannot_index_is_refused(device: Device) -> None:
    graph = simplify(random_resnet(18, 640, 640))
    most = 2**31 // (64 * 320 * 320)
    model_input = replace(RGB, width=640, height=640)

    check_indices(graph.name, make_plan(ModelPart(graph, model_input), device, most // 2).launches)
    with pytest.raises(ModelError, match=r"would hold \d+ values for a batch of 654; .*smaller batch"):
        check_indices(graph.name, make_plan(ModelPart(graph, model_input), device, 2 * most).launches)


def images(**channels: int) -> dict[str, Tensor]:
    """Return tensors of so many channels, 4 × 4 pixels."""
    return {name: Tensor(name, 1, count, 4, 4, BLOCK) for name, count in channels.items()}


def concat(output: str, *inputs: str) -> Concat:
    return Concat(output, inputs, output)


def test_inputs_lie_behind_one_another_in_the_output() -> None:
    tensors = images(a=16, b=8, c=4, all=28)
    shares = find_shares([concat("all", "a", "b", "c")], tensors, apart=())
    assert shares == {"a": Share("all", 0), "b": Share("all", 16), "c": Share("all", 24)}


def test_a_stage_of_a_densenet_is_one_tensor() -> None:
    tensors = images(a=16, b=8, c=8, ab=24, abc=32)
    shares = find_shares([concat("ab", "a", "b"), concat("abc", "a", "b", "c")], tensors, apart=())
    assert {name: share.first for name, share in shares.items()} == {"a": 0, "b": 16, "c": 24, "ab": 0}
    assert {share.whole for share in shares.values()} == {"abc"}


def test_concatenations_of_concatenations_are_one_tensor() -> None:
    tensors = images(a=16, b=8, c=8, ab=24, abc=32)
    shares = find_shares([concat("ab", "a", "b"), concat("abc", "ab", "c")], tensors, apart=())
    assert shares == {name: Share("abc", first) for name, first in {"ab": 0, "c": 24, "a": 0, "b": 16}.items()}


@pytest.mark.parametrize(
    ("operators", "reason"),
    [
        ([concat("all", "odd", "a")], "an input ends within a block"),
        ([concat("all", "a", "a")], "an input comes twice"),
        ([concat("all", "a", "b"), concat("other", "b", "a")], "an input would have to be in two places"),
        ([concat("output", "a", "b")], "the output has memory of its own"),
        ([concat("all", "input", "b")], "the input has memory of its own"),
    ],
)
def test_inputs_are_copied_where(operators: Sequence[Operator], reason: str) -> None:
    tensors = images(a=8, b=8, odd=4, input=8, all=16, other=16, output=16)
    shares = find_shares(operators, tensors, apart={"input", "output"})
    assert not any(share.whole == "all" for share in shares.values()), reason
    assert "input" not in shares
    assert not any(share.whole == "output" for share in shares.values())


def test_nothing_takes_the_place_of_another_tensor() -> None:
    """`a` lies before `b` in `ab`; that `ac` begins with `a` gives `c` no right to the place of `b`."""
    tensors = images(a=8, b=8, c=8, ac=16, ab=16)
    shares = find_shares([concat("ac", "a", "c"), concat("ab", "a", "b")], tensors, apart=())
    assert shares == {"a": Share("ab", 0), "b": Share("ab", 8)}


def test_several_frames_are_copied() -> None:
    tensors = {name: replace(tensor, frames=2) for name, tensor in images(a=8, b=8, ab=16).items()}
    assert find_shares([concat("ab", "a", "b")], tensors, apart=()) == {}


@pytest.fixture
def fire(tmp_path: Path) -> Graph:
    """A module of SqueezeNet, of 16 × 16 pixels."""
    network = Network(["N", 3, 16, 16])
    squeezed = network.add("Conv", network.normal(8, 3, 1, 1))
    left = network.add("Conv", network.normal(16, 8, 1, 1))
    right = network.add("Conv", network.normal(16, 8, 3, 3), reads=squeezed, pads=[1, 1, 1, 1])
    network.add("Concat", right, reads=left, axis=1)
    network.add("Conv", network.normal(8, 32, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    return load_model(ModelConfig(path=network.save(tmp_path / "fire.onnx"))).graph


@pytest.mark.deep
@pytest.mark.parametrize("batch", [1, 3])
def test_a_module_of_squeezenet_answers_as_the_reference(
    device: Device, programs_directory: Path, fire: Graph, batch: int
) -> None:
    model_input = replace(RGB, width=16, height=16)
    assert bool(make_plan(ModelPart(fire, model_input), device, batch).joined) == (batch == 1)

    runtime = Runtime(ModelPart(fire, model_input), device, batch=batch, cache=programs_directory)

    assert_equals_reference(runtime, fire, model_input, batch)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["squeezenet1_1", "shufflenetv2", "googlenet", "densenet121"])
def test_networks_that_concatenate_answer_as_the_reference(
    network_device: Device, programs_directory: Path, name: str
) -> None:
    model_input = replace(RGB, width=64, height=64)
    graph = NETWORKS[name](64, 64)
    device = replace(network_device, vector_width=4)  # blocks of 4 channels, which fit into those of all branches
    assert make_plan(ModelPart(graph, model_input), device).joined

    runtime = Runtime(ModelPart(graph, model_input), device, cache=programs_directory)

    assert_equals_reference(runtime, graph, model_input)
    assert_equals_reference(
        Runtime(ModelPart(graph, model_input), device, batch=2, cache=programs_directory), graph, model_input, 2
    )


@pytest.mark.deep
def test_each_layer_can_still_be_compared(network_device: Device, programs_directory: Path) -> None:
    model_input = replace(RGB, width=64, height=64)
    verification = Verification(
        ModelPart(NETWORKS["squeezenet1_1"](64, 64), model_input),
        network_device,
        precision="fp32",
        chooser=RULES,
        cache=programs_directory,
    )
    for scores in verification.compare(random_images(model_input)):
        assert np.isfinite(scores).all()
    assert verification.is_trusted
