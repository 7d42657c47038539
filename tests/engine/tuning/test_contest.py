"""Candidates against one another and against the reference."""

from dataclasses import replace

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.layout import Element
from edged.engine.selection import Choice, Rules, candidates
from edged.engine.tuning.contest import Contest, Trial
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import problem_of
from tests.engine.tuning.sites import CONV_BROKEN, CONV_WRONG, conv_site
from tests.system.scripted_machine import ScriptedMachine


@pytest.fixture(scope="module")
def rig(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig(device, tmp_path_factory.mktemp("programs"), between=2**20)


def test_each_variant_is_right_and_takes_time(rig: Rig) -> None:
    problem = problem_of(conv_site(rig.device))
    best_guesses = {choice.variant: choice for choice in reversed(candidates(problem.site))}
    assert len(best_guesses) > 1
    for choice in best_guesses.values():
        trial = Trial(rig, problem, choice)

        assert trial.error() <= problem.tolerance
        assert trial.seconds() > 0


def test_half_stored_tensors_have_a_tolerance_of_their_own(rig: Rig) -> None:
    site = conv_site(rig.device)
    site = replace(
        site,
        inputs=(replace(site.inputs[0], element=Element.FLOAT16),),
        output=replace(site.output, element=Element.FLOAT16),
        half_weights=True,
    )
    problem = problem_of(site)

    assert 1e-5 < Trial(rig, problem, Rules().choose(site)).error() < problem.tolerance == 1e-2


def test_a_wrong_answer_is_refused_with_its_error(rig: Rig) -> None:
    site = conv_site(rig.device)
    contest = Contest(rig, problem_of(site), Rules().choose(site))
    refusal = contest.join(Choice(CONV_WRONG, CONV_WRONG.parameters(site)[0]))

    assert refusal is not None
    assert (refusal.variant, refusal.reason) == ("conv_wrong", "wrong")
    assert "of the range" in refusal.detail
    assert contest.final() == []


def test_what_does_not_compile_is_refused_in_the_drivers_words(rig: Rig) -> None:
    site = conv_site(rig.device)
    refusal = Contest(rig, problem_of(site), Rules().choose(site)).join(
        Choice(CONV_BROKEN, CONV_BROKEN.parameters(site)[0])
    )

    assert refusal is not None
    assert (refusal.variant, refusal.reason) == ("conv_broken", "failed")
    assert "error:" in refusal.detail


@pytest.mark.deep
def test_the_untuned_choice_meets_the_best_few_at_the_end(rig: Rig) -> None:
    site = conv_site(rig.device)
    naive = next(choice for choice in candidates(site) if choice.variant.name == "conv_naive")
    contest = Contest(rig, problem_of(site), naive)
    for choice in (naive, *candidates(site)[:5]):
        assert contest.join(choice) is None

    entries = contest.final()

    assert any(map(contest.is_untuned, entries))
    assert len(entries) <= 4


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_infinitely_wrong(device: Device, value: float) -> None:
    problem = problem_of(conv_site(device))
    found = problem.expected.astype(np.float32)
    assert problem.error(found) <= problem.tolerance
    found[0, 0, 0, 0] = value

    assert problem.error(found) == problem.error(None) == float("inf")


def fast_and_slow(
    rig: Rig, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> tuple[Contest, Choice, Choice]:
    """Two candidates of which the first is faster; on one core both take twice as long."""
    site = conv_site(rig.device)
    fast, slow = candidates(site)[:2]

    def seconds(trial: Trial) -> float:
        return (1.0 if trial.choice == fast else 1.2) * (2 if machine.state == "one-core" else 1)

    monkeypatch.setattr(Trial, "seconds", seconds)
    return Contest(rig, problem_of(site), slow, machine), fast, slow


def test_a_candidate_is_not_better_because_the_machine_became_faster(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, fast, slow = fast_and_slow(rig, ScriptedMachine("one-core", "two-core"), monkeypatch)

    for choice in (fast, slow):  # measured in one state each
        assert contest.join(choice) is None

    assert contest.leader == fast


def test_a_candidate_is_not_dropped_because_the_machine_became_slower(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, fast, slow = fast_and_slow(rig, ScriptedMachine("two-core", "one-core"), monkeypatch)

    for choice in (slow, fast):
        assert contest.join(choice) is None

    assert contest.leader == fast


def test_disturbed_rounds_of_the_final_are_repeated(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ScriptedMachine("two-core", "two-core", "disturbed", "one-core", "one-core", "two-core")
    contest, fast, slow = fast_and_slow(rig, machine, monkeypatch)
    for choice in (slow, fast):
        assert contest.join(choice) is None

    best, other = contest.final()

    assert (best.seconds, other.seconds) == (1.0, 1.2)  # none of one-core
    assert contest.rounds.count("two-core") == 15
    assert contest.rounds[:3] == ["disturbed", "one-core", "one-core"]


def test_a_final_that_is_always_disturbed_ends(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    contest, fast, slow = fast_and_slow(rig, ScriptedMachine("two-core", "two-core", "disturbed"), monkeypatch)
    for choice in (slow, fast):
        assert contest.join(choice) is None

    assert [entry.trial.choice for entry in contest.final()] == [fast, slow]
