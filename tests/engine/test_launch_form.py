"""Which form of launching the next job takes."""

from edged.engine.one_launch import COMPARED, TRIED_EVERY, FormChoice, LaunchForm

Seconds = dict[LaunchForm, float]

SETTLED = 4 * COMPARED  # jobs: both forms in turn, then once more from the other's side
ONE_LAUNCH_IS_FASTER = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 1.0}
ONE_LAUNCH_IS_SLOWER = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 3.0}


def taken(choice: FormChoice, jobs: int, seconds: Seconds, frames: int = 1) -> list[LaunchForm]:
    """Return the forms of the next jobs, which take these seconds."""
    forms = []
    for _ in range(jobs):
        forms.append(choice.next(frames))
        choice.add(forms[-1], frames, seconds[forms[-1]])
    return forms


def test_the_faster_form_is_taken_and_the_other_tried_from_time_to_time() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    forms = taken(choice, 4 * TRIED_EVERY, ONE_LAUNCH_IS_FASTER)
    assert forms.count(LaunchForm.BY_LAYER) == 4


def test_a_form_that_is_not_faster_is_not_taken() -> None:
    choice = FormChoice()
    forms = taken(choice, SETTLED + 4 * TRIED_EVERY, ONE_LAUNCH_IS_SLOWER)
    assert forms.count(LaunchForm.ONE_LAUNCH) <= COMPARED + 4


def test_the_choice_follows_the_times() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    taken(choice, COMPARED * TRIED_EVERY + SETTLED, ONE_LAUNCH_IS_SLOWER)
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_SLOWER).count(LaunchForm.ONE_LAUNCH) == 1


def test_a_machine_that_becomes_slower_as_a_whole_changes_nothing() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER)
    twice_as_slow = {form: 2 * seconds for form, seconds in ONE_LAUNCH_IS_FASTER.items()}
    for seconds in (twice_as_slow, ONE_LAUNCH_IS_FASTER) * 3:
        assert taken(choice, TRIED_EVERY, seconds).count(LaunchForm.BY_LAYER) == 1


def test_numbers_of_frames_are_compared_with_themselves() -> None:
    choice = FormChoice()
    taken(choice, SETTLED, ONE_LAUNCH_IS_FASTER, frames=1)
    taken(choice, SETTLED, ONE_LAUNCH_IS_SLOWER, frames=8)
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_SLOWER, frames=8).count(LaunchForm.BY_LAYER) >= TRIED_EVERY - 1
    assert taken(choice, TRIED_EVERY, ONE_LAUNCH_IS_FASTER, frames=1).count(LaunchForm.BY_LAYER) == 1
