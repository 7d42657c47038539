"""Each pass changes the operators, never the numbers."""

from collections.abc import Sequence

import numpy as np

from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    MaxPool,
    Operator,
)
from edged.model.passes import (
    fold_batch_norm,
    fuse_activation,
    fuse_sum,
    remove_identities,
    remove_unused,
    replace_batch_norm,
    simplify,
)
from edged.model.shapes import make_graph

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2, 4, 6, 5))


def normal(*shape: int) -> Float32:
    return RANDOM.standard_normal(shape, np.float32)


def conv(name: str, source: str) -> Conv:
    return Conv(name, (source,), name, normal(4, 4, 3, 3), normal(4), pads=(1, 1, 1, 1))


def norm(name: str, source: str, channels: int = 4) -> BatchNorm:
    return BatchNorm(name, (source,), name, normal(channels), normal(channels))


def network(*operators: Operator, output: str | None = None) -> Graph:
    return make_graph("test", "input", (4, 6, 5), operators, output)


def kinds(graph: Graph) -> Sequence[type[Operator]]:
    return [type(operator) for operator in graph.operators]


def assert_same_numbers(before: Graph, after: Graph) -> None:
    expected = reference.run(before, X, np.float64)
    np.testing.assert_allclose(reference.run(after, X, np.float64), expected, rtol=1e-5, atol=1e-5)


def test_batch_norm_becomes_part_of_the_convolution_before() -> None:
    before = network(conv("a", "input"), norm("b", "a"), Activate("c", ("b",), "c", RELU))

    after = fold_batch_norm(before)

    assert kinds(after) == [Conv, Activate]
    assert_same_numbers(before, after)


def test_batch_norms_one_after_the_other_become_one() -> None:
    before = network(norm("a", "input"), norm("b", "a"))

    after = fold_batch_norm(before)

    assert kinds(after) == [BatchNorm]
    assert_same_numbers(before, after)


def test_batch_norm_after_a_dense_layer() -> None:
    dense = Dense("b", ("a",), "b", normal(7, 120), normal(7))
    before = network(Flatten("a", ("input",), "a"), dense, norm("c", "b", 7))

    after = fold_batch_norm(before)

    assert kinds(after) == [Flatten, Dense]
    assert_same_numbers(before, after)


def test_batch_norm_stays_where_others_read_the_convolution_too() -> None:
    before = network(conv("a", "input"), norm("b", "a"), Add("c", ("a", "b"), "c"))

    after = fold_batch_norm(before)

    assert kinds(after) == [Conv, BatchNorm, Add]


def test_batch_norm_that_stays_becomes_a_convolution_of_each_channel() -> None:
    before = network(norm("a", "input"), Activate("b", ("a",), "b", RELU))

    after = replace_batch_norm(before)

    assert kinds(after) == [Conv, Activate]
    assert_same_numbers(before, after)


def test_relu_becomes_the_end_of_what_it_reads() -> None:
    before = network(
        conv("a", "input"),
        Activate("b", ("a",), "b", RELU),
        Add("c", ("b", "input"), "c"),
        Activate("d", ("c",), "d", RELU),
    )

    after = fuse_activation(before)

    assert kinds(after) == [Conv, Add]
    assert_same_numbers(before, after)


def test_relu_stays_where_others_read_the_same() -> None:
    before = network(conv("a", "input"), Activate("b", ("a",), "b", RELU), Add("c", ("a", "b"), "c"))

    assert kinds(fuse_activation(before)) == [Conv, Activate, Add]


def test_relu_stays_where_its_input_is_the_output() -> None:
    before = network(conv("a", "input"), Activate("b", ("a",), "b", RELU), output="a")

    assert_same_numbers(before, fuse_activation(before))


def test_a_sum_becomes_the_end_of_the_later_convolution() -> None:
    before = network(conv("a", "input"), conv("b", "input"), Add("c", ("b", "a"), "c", activation=RELU))

    after = fuse_sum(before)

    assert [operator.name for operator in after.operators] == ["a", "b"]
    assert after.operators[1].inputs == ("input", "a")
    assert_same_numbers(before, after)


def test_a_convolution_waits_for_the_other_part_of_its_sum() -> None:
    pool = MaxPool("b", ("input",), "b", (3, 3), (1, 1), (1, 1, 1, 1))
    before = network(conv("a", "input"), pool, Add("c", ("a", "b"), "c"))

    after = fuse_sum(before)

    assert kinds(after) == [MaxPool, Conv]
    assert_same_numbers(before, after)


def test_a_sum_stays_where_its_convolution_cannot_take_it() -> None:
    shared = network(conv("a", "input"), Add("b", ("a", "input"), "b"), Add("c", ("a", "b"), "c"))
    twice = network(conv("a", "input"), Add("b", ("a", "a"), "b"))
    rectified = network(conv("a", "input"), Activate("b", ("a",), "b", RELU), Add("c", ("b", "input"), "c"))

    assert kinds(fuse_sum(shared)) == [Conv, Add, Add]
    assert kinds(fuse_sum(twice)) == [Conv, Add]
    assert kinds(simplify(rectified)) == [Conv, Add]


def test_a_convolution_takes_one_sum_only() -> None:
    before = network(conv("a", "input"), Add("b", ("a", "input"), "b"), Add("c", ("b", "input"), "c"))

    after = fuse_sum(before)

    assert kinds(after) == [Conv, Add]
    assert_same_numbers(before, after)


def test_operators_that_change_nothing_go() -> None:
    before = network(
        Activate("a", ("input",), "a", RELU),
        Activate("b", ("a",), "b", RELU),
        MaxPool("c", ("b",), "c", (1, 1)),
        AveragePool("d", ("c",), "d", (6, 5)),
        AveragePool("e", ("d",), "e", (1, 1)),
        Flatten("f", ("e",), "f"),
        Flatten("g", ("f",), "g"),
    )

    after = remove_identities(before)

    assert kinds(after) == [Activate, AveragePool, Flatten]
    assert after.output == "f"
    assert_same_numbers(before, after)


def test_a_strided_pool_of_one_pixel_stays() -> None:
    before = network(MaxPool("a", ("input",), "a", (1, 1), (2, 2)))

    assert kinds(remove_identities(before)) == [MaxPool]


def test_what_the_output_does_not_depend_on_goes() -> None:
    before = network(conv("a", "input"), conv("b", "a"), Activate("c", ("a",), "c", RELU), output="c")

    after = remove_unused(before)

    assert [operator.name for operator in after.operators] == ["a", "c"]
    assert "b" not in after.shapes
    assert_same_numbers(before, after)


def test_simplify_does_all_of_it_and_again_changes_nothing() -> None:
    before = network(
        conv("a", "input"),
        norm("b", "a"),
        Activate("c", ("b",), "c", RELU),
        conv("d", "c"),
        norm("e", "d"),
        Add("f", ("c", "e"), "f"),
        Activate("g", ("f",), "g", RELU),
    )

    after = simplify(before)

    assert kinds(after) == [Conv, Conv]
    assert kinds(simplify(after)) == [Conv, Conv]
    assert_same_numbers(before, after)
