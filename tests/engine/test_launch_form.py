"""Which form of launching the next job takes."""

from edged.engine.launch_form import KEPT, TRIED_EVERY, FormChoice, LaunchForm

SECONDS = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 1.0}


def taken(choice: FormChoice, jobs: int, seconds: dict[LaunchForm, float], frames: int = 1) -> list[LaunchForm]:
    """Return the forms of the next jobs, which take these seconds."""
    forms = []
    for _ in range(jobs):
        forms.append(choice.next(frames))
        choice.add(forms[-1], frames, seconds[forms[-1]])
    return forms


def test_both_forms_are_measured_first() -> None:
    forms = taken(FormChoice(), 2 * KEPT, SECONDS)
    assert forms.count(LaunchForm.BY_LAYER) == forms.count(LaunchForm.ONE_LAUNCH) == KEPT


def test_then_the_faster_one_is_taken_and_the_other_tried_from_time_to_time() -> None:
    choice = FormChoice()
    taken(choice, 2 * KEPT, SECONDS)
    forms = taken(choice, 2 * TRIED_EVERY, SECONDS)
    assert forms.count(LaunchForm.BY_LAYER) == 2


def test_the_choice_follows_the_times() -> None:
    choice = FormChoice()
    taken(choice, 2 * KEPT, SECONDS)
    one_launch_is_slow = {LaunchForm.BY_LAYER: 2.0, LaunchForm.ONE_LAUNCH: 5.0}
    taken(choice, 2 * KEPT, one_launch_is_slow)
    assert choice.next(1) is LaunchForm.BY_LAYER


def test_numbers_of_frames_are_compared_with_themselves() -> None:
    choice = FormChoice()
    taken(choice, 2 * KEPT, SECONDS, frames=1)
    slow_together = {LaunchForm.BY_LAYER: 8.0, LaunchForm.ONE_LAUNCH: 9.0}
    taken(choice, 2 * KEPT, slow_together, frames=8)
    assert choice.next(8) is LaunchForm.BY_LAYER
    assert choice.next(1) is LaunchForm.ONE_LAUNCH
