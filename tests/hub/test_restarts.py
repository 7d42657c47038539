from edged.hub.children.child import Budget, Pauses


def test_the_first_restart_is_at_once_and_then_the_pause_doubles_up_to_ten_seconds() -> None:
    pauses = Pauses()
    assert [pauses.wait_s(1.0) for _ in range(8)] == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_ten_seconds_of_health_begin_anew() -> None:
    pauses = Pauses()
    assert [pauses.wait_s(lived) for lived in (1.0, 1.0, 10.0, 1.0)] == [0.0, 0.5, 0.0, 0.5]


def test_the_third_loss_within_a_minute_is_one_too_many() -> None:
    budget = Budget(losses=3, within_s=60.0)
    assert [budget.lost(at) for at in (0.0, 30.0, 59.0)] == [False, False, True]


def test_losses_that_lie_further_apart_are_not() -> None:
    budget = Budget(losses=3, within_s=60.0)
    assert [budget.lost(at) for at in (0.0, 30.0, 61.0, 90.0)] == [False, False, False, True]
