import random

from edged.system.backoff import Backoff


def test_waits_double_up_to_ten_seconds() -> None:
    backoff = Backoff(chance=lambda: 0.0)

    assert [backoff.failed() for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]


def test_success_starts_again_from_the_shortest() -> None:
    backoff = Backoff(chance=lambda: 0.0)
    backoff.failed()
    backoff.failed()

    backoff.succeeded()

    assert backoff.failed() == 0.5


def test_chance_spreads_cameras_out() -> None:
    assert Backoff(chance=lambda: 1.0).failed() == 0.625


def test_a_shorter_bound_may_be_asked_for() -> None:
    backoff = Backoff(chance=lambda: 0.0, longest_s=1.2)

    assert [backoff.failed() for _ in range(4)] == [0.5, 1, 1.2, 1.2]


def test_a_program_that_embeds_edged_keeps_its_random_numbers() -> None:
    before = random.getstate()

    assert 0.5 <= Backoff().failed() <= 0.625

    assert random.getstate() == before
