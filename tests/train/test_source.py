"""What is held out, and in which order the rest is learnt from."""

import numpy as np
import pytest

from edged.errors import DataError
from edged.train.source import InMemory, LabelledImages


def examples(counts: tuple[int, ...]) -> LabelledImages:
    """Each with its own number as its picture."""
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    return LabelledImages(np.arange(len(labels), dtype=np.float32)[:, None], labels)


def numbers(some: LabelledImages | None) -> list[int]:
    assert some is not None
    return [int(value) for value in some.images[:, 0]]


def test_the_same_share_of_each_label_is_held_out() -> None:
    source = InMemory(examples((100, 20)), None, ("a", "b"), share=0.1, seed=3)

    assert source.validation is not None
    assert np.bincount(source.validation.labels).tolist() == [10, 2]
    assert sorted(numbers(source.validation) + numbers(source.training)) == list(range(120))


def test_the_seed_says_what_is_held_out() -> None:
    held_out = [
        numbers(InMemory(examples((50, 50)), None, ("a", "b"), 0.2, seed).validation) for seed in (1, 1, 2)
    ]

    assert held_out[0] == held_out[1] != held_out[2]


def test_each_epoch_has_every_picture_in_an_order_of_its_own() -> None:
    source = InMemory(examples((13,)), None, ("a",), share=0.0, seed=1)
    orders = []
    for epoch in (0, 1, 1):
        [chunk] = source.chunks(epoch, batch=4)
        assert chunk.examples is source.training
        orders.append(chunk.order.ravel().tolist())

    assert source.steps(4) == 4
    assert sorted(orders[0][:13]) == list(range(13))
    assert orders[0][13:] == orders[0][:3], "the last batch is filled up"
    assert orders[0] != orders[1] == orders[2]


def test_fewer_pictures_than_a_batch_fill_it() -> None:
    [chunk] = InMemory(examples((3,)), None, ("a",), share=0.0, seed=1).chunks(0, batch=8)

    assert chunk.order.shape == (1, 8)
    assert set(chunk.order.ravel().tolist()) == {0, 1, 2}


def test_too_few_to_hold_out_any() -> None:
    with pytest.raises(DataError, match=r"3 pictures are too few to hold out 0.1 of each label: give more"):
        InMemory(examples((3,)), None, ("a",), share=0.1, seed=1)


def test_other_data_have_another_fingerprint() -> None:
    some, other = examples((5, 5)), examples((5, 6))
    sources = [
        InMemory(one, test, ("a", "b"), 0.0, 1) for one, test in ((some, None), (other, None), (some, other))
    ]

    assert len({source.fingerprint for source in sources}) == 3
