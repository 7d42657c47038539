"""Which version answers, changed in a hub that runs: nothing is lost, and what fails changes nothing."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from edged.cli.daemon_client import connect_daemon
from edged.hub.journal.reader import JournalReader
from edged.hub.teaching import promotion
from edged.messages import Prediction, PromoteAnswer, PromoteRequest, prediction_from_json
from edged.model.head_versions import PromotedRecord, load_promoted, save_promoted, version_path
from tests.eventually import eventually
from tests.hub.peers import MODEL
from tests.hub.running import LOAD_DROPS, PATIENT, Run, while_it_runs
from tests.hub.taught_heads import keep_unread_version

BATCHED: dict[str, Any] = {"device": "good", "group": "a"}


def asked(run: Run, *requests: PromoteRequest) -> list[PromoteAnswer]:
    """What the daemon says to one after the other."""
    outcomes = []
    with connect_daemon(run.path, "teach") as daemon:
        for request in requests:
            daemon.send(request)
            outcome, _ = daemon.receive(60)
            assert isinstance(outcome, PromoteAnswer), outcome
            outcomes.append(outcome)
    return outcomes


def promoted(run: Run, tmp_path: Path, *requests: PromoteRequest) -> list[PromoteAnswer]:
    outcomes: list[PromoteAnswer] = while_it_runs(run, tmp_path, lambda: asked(run, *requests))
    return outcomes


def predictions_in(tmp_path: Path) -> Iterator[Prediction]:
    """All, in their order."""
    return map(prediction_from_json, JournalReader(tmp_path / "journal.sqlite").since(None))


def models_in(tmp_path: Path) -> list[tuple[str, int]]:
    """Who has answered, with the number of the first prediction."""
    runs = groupby(predictions_in(tmp_path), lambda prediction: prediction.model.sha256)
    return [(sha256, next(group).seq) for sha256, group in runs]


def workers_in(tmp_path: Path) -> set[str]:
    """Who has answered so far."""
    return {prediction.model.worker for prediction in predictions_in(tmp_path)}


@pytest.mark.parametrize("workers", [1, 3])
def test_a_promotion_and_a_rollback_change_the_model_at_one_number_each(
    tmp_path: Path, lessons: Path, workers: int
) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    run = Run(tmp_path, ["steady"], [], workers=[BATCHED] * workers)

    there, back = promoted(run, tmp_path, PromoteRequest(version=version), PromoteRequest(roll_back=True))

    assert (there.accepted, there.version) == (True, version)
    assert (back.accepted, back.version) == (True, "")
    models = models_in(tmp_path)
    assert models[1:] == [(version, there.first_seq), (MODEL.sha256, back.first_seq)]
    taught = [each for each in predictions_in(tmp_path) if each.model.sha256 == version]
    assert {label.label for each in taught for label in each.top} == {"open", "closed"}
    record = load_promoted(lessons)
    assert (record.version, record.before) == (None, ())


def test_no_frame_goes_unanswered_at_a_change(tmp_path: Path, lessons: Path) -> None:
    one, other = keep_unread_version(lessons, "open", "closed"), keep_unread_version(lessons, "full", "empty")
    run = Run(tmp_path, ["steady"], ["good"], freshness=PATIENT)

    promoted(run, tmp_path, *[PromoteRequest(version=version) for version in [one, other] * 10])

    frames = [each.frame for each in predictions_in(tmp_path)]
    assert frames == sorted(set(frames))
    unanswered = frames[-1] - frames[0] + 1 - len(frames)
    assert unanswered <= sum(run.summary["dropped"].values())
    assert run.summary["dropped"].keys() <= LOAD_DROPS
    assert len(models_in(tmp_path)) == 21


def test_what_is_promoted_answers_after_a_restart_from_the_first_frame_on(tmp_path: Path, lessons: Path) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    run = Run(tmp_path, ["steady"], ["good"])
    (outcome,) = promoted(run, tmp_path, PromoteRequest(version=version))

    run.until(predictions=5)

    assert models_in(tmp_path)[1:] == [(version, outcome.first_seq)]


def test_a_worker_that_comes_back_takes_what_answers_before_it_gets_a_job(tmp_path: Path, lessons: Path) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    save_promoted(lessons, PromotedRecord().promote(version))
    run = Run(tmp_path, ["steady"], ["broken then good"])

    run.until(predictions=10)

    assert models_in(tmp_path) == [(version, 0)]


@pytest.mark.deep
def test_a_version_promoted_on_a_fallback_answers_on_the_first_device_once_it_is_back(
    tmp_path: Path, lessons: Path
) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    run = Run(tmp_path, ["steady"], ["exit 3 until repaired then good", "good"], recovery={"retry_device_s": 1})

    def promoted_on_both() -> PromoteAnswer:
        [outcome] = asked(run, PromoteRequest(version=version))
        assert workers_in(tmp_path) == {"local-1"}
        (tmp_path / "repaired").touch()
        eventually(lambda: workers_in(tmp_path) == {"local-0", "local-1"})
        return outcome

    outcome: PromoteAnswer = while_it_runs(run, tmp_path, promoted_on_both)

    assert models_in(tmp_path)[1:] == [(version, outcome.first_seq)]


def test_in_segments_the_last_one_answers_by_the_head(tmp_path: Path, lessons: Path) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    workers = [{"device": "good", "group": group} for group in ("front", "back")]
    segments = [{"until": "stem", "workers": "front"}, {"workers": "back"}]
    run = Run(tmp_path, ["steady"], [], workers=workers, segments=segments)

    (outcome,) = promoted(run, tmp_path, PromoteRequest(version=version))

    assert outcome.accepted, outcome.message
    assert models_in(tmp_path)[1:] == [(version, outcome.first_seq)]


def refused(run: Run, tmp_path: Path, lessons: Path, *asked_for: str) -> list[str]:
    """Why; nothing has changed then, on disk or in the stream."""
    before = load_promoted(lessons)
    outcomes = promoted(run, tmp_path, *[PromoteRequest(version=version) for version in asked_for])
    assert not any(outcome.accepted for outcome in outcomes)
    assert load_promoted(lessons) == before
    assert [sha256 for sha256, _ in models_in(tmp_path)] == [MODEL.sha256]
    return [outcome.message for outcome in outcomes]


def test_a_version_that_is_not_there_or_damaged_or_of_another_model_is_refused(
    tmp_path: Path, lessons: Path
) -> None:
    damaged, other = (
        keep_unread_version(lessons, "open", "closed"),
        keep_unread_version(lessons, "full", "empty", base="5" * 64),
    )
    version_path(lessons, damaged, "head").write_bytes(b"short")

    why = refused(Run(tmp_path, ["steady"], ["good"]), tmp_path, lessons, "7" * 64, damaged, other)

    assert "there is no version 777777777777" in why[0]
    assert ".head is damaged" in why[1]
    assert "was taught to told (555555555555), the config's model is told (000000000000)" in why[2]


def test_a_worker_that_does_not_take_it_is_named_and_nothing_has_changed(tmp_path: Path, lessons: Path) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    (why,) = refused(Run(tmp_path, ["steady"], ["stubborn"]), tmp_path, lessons, version)
    assert "worker local-0 refuses it: it has no place for it; nothing has changed" in why


def test_a_worker_that_says_nothing_is_not_waited_for_for_ever(
    tmp_path: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "PREPARED_S", 0.1)
    version = keep_unread_version(lessons, "open", "closed")
    (why,) = refused(Run(tmp_path, ["steady"], ["silent_pupil"]), tmp_path, lessons, version)
    assert "worker local-0 has not loaded it within 0.1 s" in why


def test_a_record_that_cannot_be_kept_changes_nothing(tmp_path: Path, lessons: Path) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    (lessons / "promoted.json").mkdir()  # nothing can be put in its place, not by root either
    (outcome,) = promoted(Run(tmp_path, ["steady"], ["good"]), tmp_path, PromoteRequest(version=version))
    assert not outcome.accepted
    assert [sha256 for sha256, _ in models_in(tmp_path)] == [MODEL.sha256]


@pytest.mark.deep
@pytest.mark.parametrize("damage", ["a record", "another model", "a worker"])
def test_at_the_start_the_model_of_the_config_answers_where_what_was_promoted_cannot(
    tmp_path: Path, lessons: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    version = keep_unread_version(
        lessons, "open", "closed", base="5" * 64 if damage == "another model" else MODEL.sha256
    )
    save_promoted(lessons, PromotedRecord().promote(version))
    if damage == "a record":
        (lessons / "promoted.json").write_text("{")

    Run(tmp_path, ["steady"], ["stubborn" if damage == "a worker" else "good"]).until(predictions=5)

    assert [sha256 for sha256, _ in models_in(tmp_path)] == [MODEL.sha256]
    assert "; the config's model answers" in caplog.text
