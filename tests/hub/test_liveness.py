from edged.clock import NANOSECONDS
from edged.hub.liveness import HUNG_NS, SILENT_NS, STARTING_NS, Liveness


def test_a_silent_camera_is_reported_once_until_it_is_heard_again() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)

    assert liveness.newly_silent(999 + SILENT_NS) == []
    assert liveness.newly_silent(1000 + SILENT_NS) == ["door"]
    assert liveness.newly_silent(2000 + SILENT_NS) == []

    liveness.camera_heard("door", 5000 + SILENT_NS)
    assert liveness.newly_silent(5000 + 2 * SILENT_NS) == ["door"]


def test_it_is_known_when_the_next_will_be_silent() -> None:
    liveness = Liveness()
    assert liveness.next_silence_ns() is None
    liveness.camera_heard("door", 1000)
    liveness.camera_heard("gate", 2000)

    assert liveness.next_silence_ns() == 1000 + SILENT_NS
    liveness.newly_silent(1500 + SILENT_NS)
    assert liveness.next_silence_ns() == 2000 + SILENT_NS


def test_a_camera_that_stays_silent_hangs() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)

    assert liveness.hung(999 + HUNG_NS, {"door": 500}) == []
    assert liveness.hung(1000 + HUNG_NS, {"door": 500}) == ["door"]


def test_a_process_that_never_says_a_word_hangs_too_and_has_longer_for_its_start() -> None:
    liveness = Liveness()

    assert liveness.hung(499 + STARTING_NS, {"door": 500}) == []
    assert liveness.hung(500 + STARTING_NS, {"door": 500}) == ["door"]


def test_a_start_that_was_killed_in_vain_leaves_the_next_one_more_time_until_a_word_is_heard() -> None:
    liveness = Liveness()
    liveness.camera_left("door")
    liveness.camera_left("door")

    assert liveness.hung(499 + 4 * STARTING_NS, {"door": 500}) == []
    assert liveness.hung(500 + 4 * STARTING_NS, {"door": 500}) == ["door"]

    liveness.camera_heard("door", 1000)
    liveness.camera_left("door")
    assert liveness.hung(2000 + STARTING_NS, {"door": 2000}) == ["door"]


def test_the_words_of_an_earlier_process_count_for_nothing() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)

    assert liveness.hung(1000 + HUNG_NS, {"door": 2000}) == []
    assert liveness.hung(2000 + STARTING_NS, {"door": 2000}) == ["door"]


def test_of_a_process_that_has_ended_nothing_is_expected() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)
    liveness.camera_left("door")

    assert liveness.newly_silent(1000 + SILENT_NS) == []
    assert liveness.hung(1000 + HUNG_NS, {}) == []


def test_the_time_in_which_the_hub_stood_still_is_no_silence() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)
    liveness.hub_paused(5 * SILENT_NS)

    assert liveness.next_silence_ns() == 1000 + 6 * SILENT_NS
    assert liveness.newly_silent(999 + 6 * SILENT_NS) == []
    assert liveness.newly_silent(1000 + 6 * SILENT_NS) == ["door"]


def test_a_camera_may_be_silent_for_as_long_as_it_waits_for_a_picture() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)
    liveness.camera_waits("door", 6.0)
    longer_ns = 4 * NANOSECONDS

    assert liveness.newly_silent(1000 + SILENT_NS) == []
    assert liveness.next_silence_ns() == 1000 + SILENT_NS + longer_ns
    assert liveness.hung(999 + HUNG_NS + 2 * longer_ns, {"door": 500}) == []
    assert liveness.newly_silent(1000 + SILENT_NS + longer_ns) == ["door"]


def test_a_camera_whose_pictures_come_fast_again_is_expected_sooner() -> None:
    liveness = Liveness()
    liveness.camera_heard("door", 1000)
    liveness.camera_waits("door", 6.0)
    liveness.newly_silent(1000 + SILENT_NS)

    liveness.camera_waits("door", 2.0)

    assert liveness.next_silence_ns() == 1000 + SILENT_NS
