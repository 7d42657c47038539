"""Which split is best, by examples that can be checked by hand, and by trying all of them."""

import random
from itertools import combinations, pairwise, permutations

import pytest

from edged.cli.plan_split.search import Cost, Costs, Split, Stage, best_for_latency, best_for_throughput, total

LAYERS = (4.0, 2.0, 2.0, 4.0)  # seconds; the places between and around them are 0 … 4


def alike(stage: Stage) -> Cost:
    """Units that are as quick as each other, over links that cost nothing."""
    seconds = sum(LAYERS[stage.begin : stage.end])
    return Cost(seconds, seconds)


def with_a_quick_one(stage: Stage) -> Cost:
    """The same, but unit 1 takes half as long."""
    seconds = alike(stage).period_s / (2 if stage.unit == 1 else 1)
    return Cost(seconds, seconds)


def test_two_units_that_are_alike_share_the_network_evenly() -> None:
    split = best_for_throughput(2, 4, alike)
    assert split == (Stage(0, 0, 2), Stage(1, 2, 4))
    assert total(split, alike) == Cost(6.0, 12.0)


def test_three_units_are_as_quick_as_the_slowest_stage() -> None:
    assert total(best_for_throughput(3, 4, alike), alike).period_s == 4.0


def test_a_unit_that_is_twice_as_quick_takes_twice_as_much() -> None:
    split = best_for_throughput(2, 4, with_a_quick_one)
    assert split == (Stage(0, 0, 1), Stage(1, 1, 4))
    assert total(split, with_a_quick_one) == Cost(4.0, 8.0)


def test_a_quick_unit_comes_first_where_the_network_begins_with_most_of_its_work() -> None:
    def costs(stage: Stage) -> Cost:
        seconds = sum((6.0, 2.0, 1.0)[stage.begin : stage.end]) / (2 if stage.unit == 1 else 1)
        return Cost(seconds, seconds)

    assert best_for_throughput(2, 3, costs) == (Stage(1, 0, 1), Stage(0, 1, 3))


def test_a_slow_link_moves_the_cut_to_where_little_crosses() -> None:
    crossing_s = (0.0, 9.0, 9.0, 1.0, 0.0)

    def costs(stage: Stage) -> Cost:
        link_s = crossing_s[stage.end]
        return Cost(max(alike(stage).period_s, link_s), alike(stage).latency_s + link_s)

    assert best_for_throughput(2, 4, costs) == (Stage(0, 0, 3), Stage(1, 3, 4))


def test_the_best_latency_leaves_most_to_the_quicker_unit() -> None:
    def costs(stage: Stage) -> Cost:
        seconds = alike(stage).period_s * (10 if stage.unit == 1 else 1)
        return Cost(seconds, seconds)

    assert best_for_latency(2, 4, costs) == (Stage(0, 0, 3), Stage(1, 3, 4))


def test_of_two_throughputs_that_are_the_same_the_better_latency_counts() -> None:
    """Whatever the cut, a link takes 10 s: then the less the slow unit has to do, the better."""

    def costs(stage: Stage) -> Cost:
        seconds = alike(stage).period_s * (2 if stage.unit == 0 else 1)
        return Cost(max(10.0, seconds), seconds)

    split = best_for_throughput(2, 4, costs)
    assert total(split, costs) == Cost(10.0, 16.0)


@pytest.mark.parametrize("seed", range(10))
def test_no_other_split_is_better(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    units, last = 3, 6
    table = {
        Stage(unit, begin, end): Cost(chance.uniform(1, 9), chance.uniform(1, 9))
        for unit in range(units)
        for begin in range(last)
        for end in range(begin + 1, last + 1)
    }
    costs: Costs = table.__getitem__
    every = [total(split, costs) for split in all_splits(units, last)]

    quick, soon = (total(best(units, last, costs), costs) for best in (best_for_throughput, best_for_latency))
    assert quick.period_s <= 1.01 * min(cost.period_s for cost in every)
    assert soon.latency_s == pytest.approx(min(cost.latency_s for cost in every))


def all_splits(units: int, last: int) -> list[Split]:
    return [
        tuple(Stage(unit, *ends) for unit, ends in zip(order, pairwise((0, *cuts, last)), strict=True))
        for stages in range(2, units + 1)
        for order in permutations(range(units), stages)
        for cuts in combinations(range(1, last), stages - 1)
    ]
