"""The gate of a roll-out."""

import pytest

from edged.errors import ConfigError
from edged.fleet.gate import (
    EXAMPLE,
    NO_JOULES,
    Comparison,
    ModelFigures,
    failures,
    figures_of,
    measured_in_use,
    parse_gate,
    percentile,
)

BEFORE = ModelFigures(frames=100, p99_s=0.010, joules=0.5)


def found(agreement: float | None = 1.0, **after: float | None) -> Comparison:
    figures = {"frames": 100, "p99_s": 0.011, "joules": 0.5, "not_finite": 0, **after}
    return Comparison(agreement=agreement, before=BEFORE, after=ModelFigures.model_validate(figures))


def failed(gate: str, comparison: Comparison) -> list[str]:
    return [str(verdict) for verdict in failures(parse_gate(gate), comparison)]


def test_a_model_as_good_as_the_one_before_passes() -> None:
    assert failed(EXAMPLE, found()) == []


@pytest.mark.parametrize(
    ("gate", "comparison", "message"),
    [
        ("agreement>=0.98", found(0.97), "agreement 0.97, required agreement>=0.98"),
        ("p99<=1.2x", found(p99_s=0.013), "p99 1.3x, required p99<=1.2x"),
        ("p99<10ms", found(), "p99 11ms, required p99<10ms"),
        ("p99<=0.01s", found(), "p99 0.011s, required p99<=0.01s"),
        ("joules<=1.1x", found(joules=1.0), "joules 2x, required joules<=1.1x"),
        ("joules<=0.4J", found(), "joules 0.5J, required joules<=0.4J"),
        ("not_finite=0", found(not_finite=1), "not_finite 1, required not_finite=0"),
    ],
)
def test_a_condition_that_is_not_met_is_named_with_the_figure(
    gate: str, comparison: Comparison, message: str
) -> None:
    assert failed(gate, comparison) == [message]


def test_all_conditions_that_are_not_met_are_named() -> None:
    assert len(failed(EXAMPLE, found(0.5, not_finite=3, p99_s=1.0))) == 3


@pytest.mark.parametrize(
    ("gate", "comparison", "message"),
    [
        ("joules<=1.1x", found(joules=None), f"joules cannot be evaluated: {NO_JOULES}; set energy"),
        ("p99<=1.2x", found(p99_s=None), "p99 cannot be evaluated: there are no predictions"),
        ("agreement>=0.9", found(None), "agreement cannot be evaluated: no answers were compared"),
        (
            "p99<=2x",
            Comparison(before=ModelFigures(), after=BEFORE),
            "p99 cannot be evaluated: of the model before: there are no predictions",
        ),
    ],
)
def test_a_figure_that_is_unknown_fails_the_gate_and_is_named(
    gate: str, comparison: Comparison, message: str
) -> None:
    (only,) = failed(gate, comparison)
    assert only.startswith(message)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("", "invalid condition ''; expected, for example, agreement>=0.98"),
        ("agreement", "invalid condition 'agreement'"),
        ("agreement=>0.9", "invalid condition 'agreement=>0.9'"),
        ("p98<=1.2x", "there is no metric p98; there are: agreement, p99, joules, not_finite"),
        ("agreement>=98", "agreement is a share, 0 to 1"),
        ("agreement>=0.9x", "the unit of agreement is none"),
        ("p99<=1.2", "the unit of p99 is x or ms or s"),
        ("joules<=2W", "the unit of joules is x or J"),
        ("p99<=1x,p99<=2ms", "p99 is there twice"),
        ("p99<=1x,", "invalid condition ''"),
    ],
)
def test_a_gate_that_cannot_be_read_is_named(gate: str, message: str) -> None:
    with pytest.raises(ConfigError, match="gate") as caught:
        parse_gate(gate)
    assert message in str(caught.value)


def test_predictions_alone_show_no_agreement() -> None:
    assert [each.metric for each in measured_in_use(parse_gate(EXAMPLE))] == ["p99", "joules", "not_finite"]


def test_figures_summarize_frames() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(each) for each in range(1, 201)], 0.99) == 198.0
    figures = figures_of([0.1, 0.2], [1.0, 3.0])
    assert (figures.frames, figures.p99_s, figures.joules) == (2, 0.2, 2.0)
    assert figures_of([0.1, 0.2], [1.0, None]).joules is None  # a gap: the rest would be too little
    assert figures_of([], []) == ModelFigures()
