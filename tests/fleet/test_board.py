"""The files of a board."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from edged.errors import ConfigError, EdgedError, ModelError
from edged.fleet.board import BoardFiles, RolloutProgress
from edged.fleet.records import SignedModel

CONTENT = b"a network"
MODEL = SignedModel(name="doors", file="doors.onnx", sha256=sha256(CONTENT).hexdigest(), size=len(CONTENT))


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BoardFiles:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    (tmp_path / "net.onnx").symlink_to("first.onnx")
    return BoardFiles(tmp_path / "net.onnx", "north")


def fetched(board: BoardFiles, content: bytes) -> Path:
    path = board.unfinished()
    path.write_bytes(content)
    return path


def test_a_fetched_model_is_kept_and_the_link_leads_to_it(board: BoardFiles) -> None:
    assert not board.has(MODEL)
    board.keep(MODEL, fetched(board, CONTENT))
    assert board.has(MODEL)
    board.link_to(str(board.path_of(MODEL)))
    assert board.link.read_bytes() == CONTENT


def test_a_link_never_leads_to_a_file_that_is_not_there(board: BoardFiles) -> None:
    with pytest.raises(EdgedError, match=r"net.onnx stays as it is: there is no file .*doors.onnx"):
        board.link_to(str(board.path_of(MODEL)))
    assert board.target == "first.onnx"


@pytest.mark.parametrize("content", [b"", b"a netw", b"a NETWORK", b"a network."])
def test_a_file_with_another_size_or_hash_is_refused_and_removed(board: BoardFiles, content: bytes) -> None:
    path = fetched(board, content)
    with pytest.raises(ModelError, match="the file in the store is damaged"):
        board.keep(MODEL, path)
    assert not path.exists()
    assert not board.has(MODEL)


def test_a_kept_file_that_was_damaged_since_is_fetched_again(board: BoardFiles) -> None:
    board.keep(MODEL, fetched(board, CONTENT))
    board.path_of(MODEL).write_bytes(b"a netwerk")
    assert not board.has(MODEL)


def test_what_an_interrupted_fetch_has_left_is_removed(board: BoardFiles) -> None:
    left = fetched(board, b"half")
    assert board.unfinished() != left
    assert not left.exists()


def numbered(number: int) -> SignedModel:
    return MODEL.model_copy(update={"sha256": sha256(bytes([number])).hexdigest(), "size": 1})


def test_models_that_no_roll_back_needs_are_removed(board: BoardFiles) -> None:
    unused, before, answers = models = [numbered(number) for number in range(3)]
    for number, model in enumerate(models):
        board.keep(model, fetched(board, bytes([number])))
    board.forget_others(answers.sha256, str(board.path_of(before)))
    assert [board.has(model) for model in (unused, before, answers)] == [False, True, True]


def test_a_model_path_that_is_no_link_is_refused_with_the_command_that_makes_one(board: BoardFiles) -> None:
    board.link.unlink()
    board.link.write_bytes(CONTENT)
    with pytest.raises(ConfigError, match=r"mv net\.onnx first-net\.onnx && ln -s first-net\.onnx net\.onnx"):
        _ = board.target


def test_a_link_that_cannot_be_replaced_stays(board: BoardFiles, tmp_path: Path) -> None:
    board.link.unlink()
    board.link.mkdir()
    (tmp_path / "other.onnx").touch()
    with pytest.raises(EdgedError, match="cannot be replaced"):
        board.link_to("other.onnx")
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".net")]


def test_progress_survives_and_a_damaged_file_counts_as_none(board: BoardFiles) -> None:
    progress = RolloutProgress(rollout="a", phase="watching", model=MODEL, before="first.onnx")
    board.save(progress)
    assert board.progress() == progress
    (board.folder / "progress.json").write_text("{")
    assert board.progress() == RolloutProgress()
