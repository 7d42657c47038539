"""Which split is best, by examples that can be checked by hand, and by trying all of them."""

import random
from itertools import combinations, pairwise, permutations

import pytest

from edged.messages import CutPoint, MeasureAnswer
from edged.split.search import (
    Ability,
    Cost,
    Costs,
    LinkSpeed,
    PlannedPart,
    Split,
    Stage,
    Unit,
    Ways,
    best_for_latency,
    best_for_throughput,
    total,
)

LAYERS = (4.0, 2.0, 2.0, 4.0)  # seconds; the places between and around them are 0 … 4
FREE = LinkSpeed(0.0, 0.0, 0.0)
SLOW = LinkSpeed(0.0, 0.005, 0.005)  # 5 s a kilobyte


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


def place(
    after: str | None, reached_s: float, nbytes: int = 0, receive_s: float = 0, send_s: float = 0
) -> CutPoint:
    return CutPoint(after=after, nbytes=nbytes, reached_s=reached_s, receive_s=receive_s, send_s=send_s)


PLACES = (
    place(None, 0, nbytes=1000, receive_s=1),
    place("a", 4, nbytes=8000, receive_s=2, send_s=3),
    place("b", 10, nbytes=2000, receive_s=0.5, send_s=0.25),
    place(None, 12, send_s=0.125),
)
ON_A_CPU = MeasureAnswer(cut_points=PLACES, overlaps=False)
ON_A_GPU = MeasureAnswer(cut_points=PLACES, overlaps=True)


def cost(ability: Ability, begin: int, end: int) -> tuple[float, float]:
    found = ability.cost(begin, end)
    return found.period_s, found.latency_s


def test_on_a_cpu_taking_computing_and_giving_add_up() -> None:
    ability = Ability(ON_A_CPU, FREE)
    assert cost(ability, 0, 3) == (1 + 12 + 0.125, 1 + 12 + 0.125)
    assert cost(ability, 1, 2) == (2 + 6 + 0.25, 2 + 6 + 0.25)


def test_a_gpu_computes_while_the_host_takes_and_gives() -> None:
    ability = Ability(ON_A_GPU, FREE)
    assert cost(ability, 1, 2) == (6, 2 + 6 + 0.25)
    assert cost(ability, 2, 3) == (2, 0.5 + 2 + 0.125)


def test_a_link_is_a_stage_of_its_own_and_adds_to_the_latency() -> None:
    link = LinkSpeed(round_trip_s=0.5, out_s_per_byte=0.001, back_s_per_byte=0.002)
    assert cost(Ability(ON_A_CPU, link), 0, 1) == (16, 0.5 + 1 + 1 + 4 + 3 + 16)
    assert cost(Ability(ON_A_CPU, link), 1, 3) == (2 + 8 + 0.125, 0.5 + 8 + 2 + 8 + 0.125)


def test_what_both_ends_do_for_a_message_counts_where_one_follows_the_other() -> None:
    link = LinkSpeed(0.5, 0.0, 0.0, message_s=0.25)
    assert cost(Ability(ON_A_CPU, link), 2, 3) == (0.5 + 2 + 0.125 + 0.25, 0.5 + 0.5 + 2 + 0.125)
    assert cost(Ability(ON_A_GPU, link), 2, 3) == (2, 0.5 + 0.5 + 2 + 0.125)


def test_two_workers_of_a_group_do_twice_as_many_jobs_and_none_of_them_sooner() -> None:
    ability = Ability(ON_A_CPU, FREE)
    pair = Unit("pair", ("one", "other"), (ability, ability))
    assert pair.cost(1, 2) == Cost(8.25 / 2, 8.25)


def unit(name: str, link: LinkSpeed = FREE, times: float = 1.0) -> Unit:
    """A worker that needs 4, 6 and 2 s, times `times`, for the stretches of a network; 1 kB, 8, 2 and 0 cross."""
    reached = {None: 0.0, "a": 4.0, "b": 10.0}
    places = [
        CutPoint(after=after, nbytes=nbytes, reached_s=times * reached[after], receive_s=0, send_s=0)
        for after, nbytes in ((None, 1000), ("a", 8000), ("b", 2000))
    ]
    scores = CutPoint(after=None, nbytes=0, reached_s=times * 12.0, receive_s=0, send_s=0)
    return Unit(name, (name,), (Ability(MeasureAnswer(cut_points=(*places, scores), overlaps=False), link),))


def test_side_by_side_the_jobs_are_shared_in_proportion() -> None:
    one, other, both = Ways([unit("one"), unit("other", times=3)]).unsplit
    assert (one.title, one.predicted) == ("one alone", Cost(12, 12))
    assert (other.title, other.predicted) == ("other alone", Cost(36, 36))
    assert both.parts == (PlannedPart("all", ("one", "other")),)
    assert both.predicted.period_s == pytest.approx(9)
    assert both.predicted.latency_s == 24


def test_the_cut_is_where_the_stages_are_even_and_between_names_of_operators() -> None:
    (best,) = Ways([unit("one"), unit("other")]).split
    assert best.title == "split, best throughput and latency"
    assert best.parts == (PlannedPart("one", ("one",), None, "a"), PlannedPart("other", ("other",), "a", None))
    assert best.predicted == Cost(8, 12)


def test_a_slow_link_moves_the_cut_to_where_less_crosses() -> None:
    quick, *_ = Ways([unit("one", SLOW), unit("other", SLOW)]).split
    assert quick.parts[0].end == "b"
    assert quick.predicted.period_s == 10


def test_the_best_latency_may_want_another_cut() -> None:
    quick, soon = Ways([unit("one"), unit("other", times=2)]).split
    assert (quick.title, soon.title) == ("split, best throughput", "split, best latency")
    assert quick.predicted == Cost(8, 16)
    assert soon.predicted == Cost(10, 14)


def test_each_place_says_what_a_cut_there_would_give() -> None:
    ways = Ways([unit("one"), unit("other")])
    assert [ways.at(place).period_s for place in (1, 2)] == [8, 10]


def test_a_way_is_predicted_again_by_what_its_workers_can_do_now() -> None:
    before = Ways([unit("one"), unit("other")])
    now = Ways([unit("one", times=2), unit("other")])
    assert now.again(before.split[0]).predicted == Cost(8, 16)
    assert now.again(before.unsplit[0]).predicted == Cost(24, 24)
    assert now.again(before.unsplit[2]).predicted.period_s == pytest.approx(8)
