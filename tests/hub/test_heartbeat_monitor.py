from edged.hub.cameras.health import HUNG_NS, SILENT_NS, STARTING_NS, HeartbeatMonitor


def test_a_camera_that_says_nothing_is_told_once_until_it_is_heard_again() -> None:
    vigil = HeartbeatMonitor()
    vigil.heard("door", 1000)

    assert vigil.newly_silent(999 + SILENT_NS) == []
    assert vigil.newly_silent(1000 + SILENT_NS) == ["door"]
    assert vigil.newly_silent(2000 + SILENT_NS) == []

    vigil.heard("door", 5000 + SILENT_NS)
    assert vigil.newly_silent(5000 + 2 * SILENT_NS) == ["door"]


def test_it_is_known_when_the_next_will_be_silent() -> None:
    vigil = HeartbeatMonitor()
    assert vigil.next_ns() is None
    vigil.heard("door", 1000)
    vigil.heard("gate", 2000)

    assert vigil.next_ns() == 1000 + SILENT_NS
    vigil.newly_silent(1500 + SILENT_NS)
    assert vigil.next_ns() == 2000 + SILENT_NS


def test_a_camera_that_stays_silent_hangs() -> None:
    vigil = HeartbeatMonitor()
    vigil.heard("door", 1000)

    assert vigil.hung(999 + HUNG_NS, {"door": 500}) == []
    assert vigil.hung(1000 + HUNG_NS, {"door": 500}) == ["door"]


def test_a_process_that_never_says_a_word_hangs_too_and_has_longer_for_its_start() -> None:
    vigil = HeartbeatMonitor()

    assert vigil.hung(499 + STARTING_NS, {"door": 500}) == []
    assert vigil.hung(500 + STARTING_NS, {"door": 500}) == ["door"]


def test_a_start_that_was_killed_in_vain_leaves_the_next_one_more_time_until_a_word_is_heard() -> None:
    vigil = HeartbeatMonitor()
    vigil.left("door")
    vigil.left("door")

    assert vigil.hung(499 + 4 * STARTING_NS, {"door": 500}) == []
    assert vigil.hung(500 + 4 * STARTING_NS, {"door": 500}) == ["door"]

    vigil.heard("door", 1000)
    vigil.left("door")
    assert vigil.hung(2000 + STARTING_NS, {"door": 2000}) == ["door"]


def test_the_words_of_an_earlier_process_count_for_nothing() -> None:
    vigil = HeartbeatMonitor()
    vigil.heard("door", 1000)

    assert vigil.hung(1000 + HUNG_NS, {"door": 2000}) == []
    assert vigil.hung(2000 + STARTING_NS, {"door": 2000}) == ["door"]


def test_of_a_process_that_has_ended_nothing_is_expected() -> None:
    vigil = HeartbeatMonitor()
    vigil.heard("door", 1000)
    vigil.left("door")

    assert vigil.newly_silent(1000 + SILENT_NS) == []
    assert vigil.hung(1000 + HUNG_NS, {}) == []


def test_the_time_in_which_the_hub_stood_still_is_no_silence() -> None:
    vigil = HeartbeatMonitor()
    vigil.heard("door", 1000)
    vigil.stood_still(5 * SILENT_NS)

    assert vigil.next_ns() == 1000 + 6 * SILENT_NS
    assert vigil.newly_silent(999 + 6 * SILENT_NS) == []
    assert vigil.newly_silent(1000 + 6 * SILENT_NS) == ["door"]
