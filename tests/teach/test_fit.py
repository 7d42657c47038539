"""A head learns, always the same one from one seed, and is judged by the crops that are held back."""

import numpy as np
import pytest

from edged.engine.device import list_devices
from edged.model.head import Head
from edged.teach.fit import (
    FitSettings,
    LabelledFeatures,
    Scale,
    Verdict,
    first_head,
    fit,
    gradients,
    verdict_of_head,
)

LABELS = ("closed", "half open", "open")
PLACES = [None, *[device for device in list_devices() if device.kind == "cpu"][:1]]

VERDICT = Verdict(("open", "open", "closed", "open"), ("open", "closed", "7", "open"))


def clouds(seed: int, each: int = 40, features: int = 12) -> LabelledFeatures:
    """A cloud a label, around a place of its own, with features that differ widely in size."""
    rng = np.random.default_rng(0)
    places, sizes = rng.standard_normal((3, features)), 10.0 ** rng.integers(-3, 4, features)
    noise = np.random.default_rng(seed).standard_normal((3 * each, features)) / 3
    rows = (np.repeat(places, each, axis=0) + noise) * sizes
    return LabelledFeatures(LABELS, rows.astype(np.float32), np.repeat(np.arange(3), each).astype(np.int32))


@pytest.mark.parametrize("place", PLACES, ids=["numpy", "cpu"][: len(PLACES)])
def test_it_learns_and_judges_fresh_examples_rightly(place: object) -> None:
    head = fit(clouds(1), FitSettings(hidden=8, steps=200), place).head  # type: ignore[arg-type]

    assert verdict_of_head(head, LABELS, clouds(2)).accuracy > 0.97


@pytest.mark.parametrize("place", PLACES, ids=["numpy", "cpu"][: len(PLACES)])
def test_the_same_seed_gives_the_same_head_bit_for_bit(place: object) -> None:
    def trained(seed: int) -> bytes:
        return fit(clouds(1), FitSettings(hidden=8, steps=20, seed=seed), place).head.to_bytes()  # type: ignore[arg-type]

    assert trained(1) == trained(1)
    assert trained(1) != trained(2)


@pytest.mark.skipif(len(PLACES) < 2, reason="no OpenCL device")
def test_the_time_to_compile_is_told_apart_from_that_of_the_training() -> None:
    examples = clouds(1)

    fitted, numpy_alone = (fit(examples, FitSettings(hidden=8, steps=1), place) for place in (PLACES[-1], None))

    assert fitted.compile_s > 0
    assert fitted.train_s > 0
    assert numpy_alone.compile_s == 0


def test_every_example_is_seen_equally_often() -> None:
    orders = FitSettings(steps=30, batch=8).orders(12)
    assert orders.shape == (30, 8)
    assert set(np.bincount(orders.ravel())) == {20}


def test_the_rate_falls_from_what_was_asked_for_to_nothing() -> None:
    rates = FitSettings(rate=0.1).rates()
    assert rates[0] == pytest.approx(0.1)
    assert rates[-1] < 1e-5
    assert (np.diff(rates) <= 0).all()


def test_the_scale_of_features_becomes_part_of_the_head() -> None:
    examples = clouds(1)
    scale = Scale.of(examples.features)
    head = first_head(12, 3, FitSettings(hidden=8))

    folded = scale.folded(head)

    assert folded.shares(examples.features) == pytest.approx(head.shares(scale.apply(examples.features)), abs=1e-4)


def test_a_feature_that_never_changes_does_no_harm() -> None:
    examples = clouds(1)
    examples.features[:, 3] = 7
    head = fit(examples, FitSettings(hidden=16, steps=100), None).head
    assert np.isfinite(head.shares(examples.features)).all()


def test_gradients_are_those_of_finite_differences() -> None:
    examples = clouds(3, each=3)
    x = Scale.of(examples.features).apply(examples.features).astype(np.float64)
    head = first_head(12, 3, FitSettings(hidden=5))
    values = [p.astype(np.float64) for p in (head.hidden_weight, head.hidden_bias, head.weight, head.bias)]

    def loss() -> float:
        hidden = np.maximum(x @ values[0].T + values[1], 0)
        scores = hidden @ values[2].T + values[3]
        shares = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return float(-shares[np.arange(len(x)), examples.classes].mean())

    for value, gradient in zip(values, gradients(values, x, examples.classes), strict=True):
        flat = value.reshape(-1)
        for place in range(0, flat.size, 7):
            before = flat[place]
            flat[place] = before + 1e-6
            above = loss()
            flat[place] = before - 1e-6
            below = loss()
            flat[place] = before
            assert gradient.reshape(-1)[place] == pytest.approx((above - below) / 2e-6, abs=1e-7)


def test_a_head_of_one_hidden_value_is_a_head() -> None:
    head = fit(clouds(1), FitSettings(hidden=1, steps=5), None).head
    assert isinstance(head, Head)
    assert head.hidden == 1


def test_an_answer_is_right_where_it_is_the_label() -> None:
    assert VERDICT.right == 2
    assert str(VERDICT) == "2 of 4 (50.0%)"


def test_the_table_shows_what_was_called_what_and_what_is_no_label() -> None:
    assert VERDICT.table(("closed", "open", "empty")).splitlines() == [
        "        closed  open  empty  other           right",
        "closed       ·     ·      ·      1              0%",
        "open         1     2      ·      ·             67%",
        "empty        ·     ·      ·      ·  none held back",
    ]


def test_of_no_crops_none_are_right() -> None:
    assert Verdict((), ()).accuracy == 0
