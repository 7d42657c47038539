"""What a stage costs, by figures that can be added up by hand."""

from edged.cli.plan_split.search import Ability, Cost, LinkSpeed, Unit
from edged.messages import CutPoint, MeasureAnswer

FREE = LinkSpeed(0.0, 0.0, 0.0)


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
