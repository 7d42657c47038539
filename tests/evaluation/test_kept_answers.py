"""The answers of an interrupted evaluation."""

import logging
from pathlib import Path

import pytest

from edged.evaluation.figures import PictureAnswer
from edged.evaluation.kept_answers import KeptAnswers

ANSWERS = [PictureAnswer(1, 0.5, 1), PictureAnswer(problem="a.png is damaged", is_read=False)]


def interrupted(folder: Path, answers: list[PictureAnswer]) -> Path:
    """The file that a killed process leaves."""
    kept = KeptAnswers(PictureAnswer, ["key"], folder)
    kept.append(answers)
    kept.close()
    (path,) = folder.glob("*.jsonl")
    return path


def test_another_run_knows_the_answers_of_an_interrupted_one(tmp_path: Path) -> None:
    interrupted(tmp_path, ANSWERS)

    assert KeptAnswers(PictureAnswer, ["another key"], tmp_path).known == []
    assert KeptAnswers(PictureAnswer, ["key"], tmp_path).known == ANSWERS


def test_a_line_that_was_cut_short_is_answered_again(tmp_path: Path) -> None:
    path = interrupted(tmp_path, ANSWERS)
    path.write_bytes(path.read_bytes()[:-4])

    kept = KeptAnswers(PictureAnswer, ["key"], tmp_path)
    assert kept.known == ANSWERS[:1]
    kept.append(ANSWERS[1:])
    kept.close()

    assert KeptAnswers(PictureAnswer, ["key"], tmp_path).known == ANSWERS


def test_a_restart_and_the_end_delete_them(tmp_path: Path) -> None:
    path = interrupted(tmp_path, ANSWERS)

    kept = KeptAnswers(PictureAnswer, ["key"], tmp_path)
    kept.restart()
    assert (kept.known, path.read_bytes()) == ([], b"")
    kept.remove()

    assert not path.exists()


def test_a_second_process_keeps_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = KeptAnswers(PictureAnswer, ["key"], tmp_path)
    with caplog.at_level(logging.WARNING):
        second = KeptAnswers(PictureAnswer, ["key"], tmp_path)
    second.append(ANSWERS)
    second.remove()
    first.append(ANSWERS[:1])
    first.close()

    assert "another process writes" in caplog.text
    assert KeptAnswers(PictureAnswer, ["key"], tmp_path).known == ANSWERS[:1]


def test_a_file_that_others_may_write_is_not_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    interrupted(tmp_path, ANSWERS).chmod(0o666)

    assert KeptAnswers(PictureAnswer, ["key"], tmp_path).known == []
    assert "is writable by other users" in caplog.text


def test_a_folder_that_cannot_be_written_is_only_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")

    KeptAnswers(PictureAnswer, ["key"], tmp_path / "file" / "folder").append(ANSWERS)

    assert "an interrupted evaluation cannot be resumed" in caplog.text
