"""What surrounds the figures of `make bench-training`; no test here judges a time."""

import numpy as np
import pytest

from bench.training.case import load_case
from bench.training.layers import by_taps, layers_of
from bench.training.ours import Ours
from bench.training.table import layer_section, section
from bench.training.turns import FEWEST, time_in_turn


def test_who_is_too_slow_for_the_budget_gets_the_fewest_rounds_and_the_others_all() -> None:
    scores = np.zeros(1)

    times = time_in_turn({"quick": lambda: scores}, rounds=12, budget_s=60)
    slow = time_in_turn({"slow": lambda: scores}, rounds=12, budget_s=0)

    assert sum(map(len, times["quick"])) == 12
    assert sum(map(len, slow["slow"])) == FEWEST


@pytest.mark.deep
def test_edged_learns_the_case_and_says_the_loss() -> None:
    case = load_case("mnist-dense")
    ours = Ours(case, "cpu")

    first, later = ours(20), ours(20)

    assert later < first < 3


def test_orders_go_on_where_the_last_ended() -> None:
    case = load_case("mnist-dense")
    whole = case.order(0, 20)

    assert whole.shape == (20, case.learning.batch)
    assert np.array_equal(whole[5:], case.order(5, 15))


def test_numpy_tap_by_tap_gives_what_the_reference_does() -> None:
    layers = list(layers_of("fashion-conv", images=2))
    assert layers
    for layer in layers:
        _, found = by_taps(layer.conv, layer.x)

        assert found == pytest.approx(layer.truth, abs=1e-4)


def test_images_a_second_are_divided_by_those_of_pytorch_in_the_same_turn() -> None:
    rows = [
        {"name": "pytorch", "loss": 2.3, "images": 100, "turns": [[1.0, 1.0], [2.0]]},
        {"name": "edged", "loss": 2.3, "images": 300, "turns": [[1.5], [3.0, 3.0]]},
    ]

    text = section({"case": "mnist-dense", "batch": 10, "threads": 1, "rows": rows})

    edged = next(line for line in text.splitlines() if line.startswith("| edged"))
    assert [cell.strip() for cell in edged.split("|")][2:7] == ["100", "100 150", "2.00", "2.00 2.00", "3"]


def test_a_layers_table_tells_milliseconds_and_operations() -> None:
    measured = {"layer": "1×28×28", "images": 10, "threads": 1, "flops": 2e9}

    text = layer_section(measured | {"turns": {"pytorch": [[0.5]], "edged": [[0.25], [0.2], [0.3]]}})

    edged = next(line for line in text.splitlines() if line.startswith("| edged"))
    assert [cell.strip() for cell in edged.split("|")][2:5] == ["250", "0.50", "8.0"]
