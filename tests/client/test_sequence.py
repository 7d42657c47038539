from edged.client.stream import Sequence


def heard_up_to(last: int, boot: str = "first") -> Sequence:
    sequence = Sequence()
    sequence.begin(boot, 0)
    sequence.last = last
    return sequence


def test_what_comes_next_leaves_no_gap() -> None:
    sequence = heard_up_to(10)
    assert sequence.missing(10) is None
    assert sequence.missing(13) == (11, 13)
    assert sequence.is_new(11)
    assert not sequence.is_new(10)


def test_before_the_first_message_nothing_is_missing() -> None:
    sequence = Sequence()
    assert sequence.missing(1000) is None
    assert sequence.is_new(1000)


def test_a_restart_that_goes_on_counting_changes_nothing() -> None:
    sequence = heard_up_to(10)
    sequence.begin("second", 11)
    assert sequence.last == 10


def test_a_restart_that_was_missed_for_a_while_leaves_a_gap() -> None:
    sequence = heard_up_to(10)
    sequence.begin("second", 15)
    assert sequence.missing(20) == (11, 20)


def test_numbers_that_a_node_uses_again_after_a_power_failure_are_wanted_again() -> None:
    sequence = heard_up_to(10)
    assert not sequence.knows("second")
    sequence.begin("second", 8)
    assert sequence.knows("second")
    assert sequence.missing(9) == (8, 9)
