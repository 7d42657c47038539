"""Which ways there are to run a network on two workers, and which of them are best."""

import pytest

from edged.cli.plan_split.search import Ability, Cost, LinkSpeed, PlannedPart, Unit, Ways
from edged.messages import CutPoint, MeasureAnswer

FREE = LinkSpeed(0.0, 0.0, 0.0)
SLOW = LinkSpeed(0.0, 0.005, 0.005)  # 5 s a kilobyte


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
