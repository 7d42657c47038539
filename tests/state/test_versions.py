"""State directories of older versions are opened; files of a newer one are refused, with both versions."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from edged import __version__
from edged.bridge.jetstream import PlaceFile, StreamPlace
from edged.bridge.nats import place_path
from edged.engine.tuning_records import read_record
from edged.errors import ConfigError, NewerStateError
from edged.fleet.board import BoardFiles
from edged.hub.journal.schema import LAYOUT
from edged.messages import Prediction
from edged.model.head_versions import load_head, load_promoted, load_version, teach_folder
from edged.system.paths import journal_path
from edged.teach.store import CropStore
from tests.hub.journals import a_journal, fill
from tests.state.write import HERE, NODE, STREAM
from tests.teach.crops import release_locks

VERSIONS = sorted(path.name for path in (HERE / "versions").iterdir())


@pytest.fixture(params=VERSIONS)
def state(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the state directory that a version has left."""
    folder = tmp_path / "state"
    shutil.copytree(HERE / "versions" / request.param, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)  # a checkout may let a group write
    monkeypatch.setenv("STATE_DIRECTORY", str(folder))
    yield folder
    release_locks()


def test_the_state_of_this_version_is_kept_for_later_ones() -> None:
    assert __version__ in VERSIONS, "a version is about to be tagged: python -m tests.state.write"


def test_predictions_of_the_journal_are_read_and_numbered_on(state: Path) -> None:
    path = journal_path(NODE, None)
    with a_journal(path) as journal:
        first = journal.next_seq
        fill(journal, 1)
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT seq, json FROM predictions ORDER BY seq").fetchall()
    assert [seq for seq, _ in rows] == list(range(first - 20, first + 1))
    predictions = [msgspec.json.decode(text, type=Prediction) for _, text in rows[:-1]]
    assert [each.seq for each in predictions] == list(range(first - 20, first))


def test_the_taught_version_answers_and_its_crops_are_there(state: Path) -> None:
    folder = teach_folder(NODE)

    promoted = load_promoted(folder).version
    version = load_version(folder, promoted or "")
    store = CropStore.open(folder)

    assert version.labels == ("bar", "disc")
    assert len(load_head(folder, version)) == version.head_bytes
    assert len(store.crops) == 4
    assert (store.damage, store.problems, store.gone) == ("", (), ())
    assert [store.pixels(crop).shape for crop in store.crops] == [(16, 16, 3)] * 4


def test_tuning_the_roll_out_and_the_place_in_a_stream_are_continued(state: Path) -> None:
    record = read_record(state / "tuned/cpu.json")
    progress = BoardFiles(state / "net.onnx", NODE).progress()

    assert record is not None
    assert record.device.driver == "3.1"
    assert (progress.rollout, progress.phase, progress.before) == ("r1", "watching", "first.onnx")
    assert PlaceFile(place_path(NODE)).read(STREAM) == StreamPlace("a boot", 19, 7)


OPENED: dict[str, Callable[[Path], object]] = {
    "board/teach/promoted.json": lambda _: load_promoted(teach_folder(NODE)),
    "board/teach/manifest.json": lambda _: CropStore.open(teach_folder(NODE)),
    "board/fleet/progress.json": lambda state: BoardFiles(state / "net.onnx", NODE).progress(),
    "tuned/cpu.json": lambda state: read_record(state / "tuned/cpu.json"),
}


@pytest.mark.parametrize("name", OPENED)
def test_a_file_of_a_newer_version_is_refused_with_both_versions_and_left_as_it_is(state: Path, name: str) -> None:
    newer = json.loads((state / name).read_text()) | {"schema": 2, "edged": "9.4.0", "crops": "in another form"}
    (state / name).write_text(json.dumps(newer))

    with pytest.raises(NewerStateError) as error:
        OPENED[name](state)

    assert str(error.value) == (
        f"{state / name} has schema 2 and was written by edged 9.4.0; this is edged {__version__}, which knows "
        "schema 1: install that version again, or move the file away. Nothing was changed"
    )
    assert json.loads((state / name).read_text()) == newer


def test_the_journal_of_a_newer_version_is_refused_and_left_as_it_is(state: Path) -> None:
    path = journal_path(NODE, None)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    content = path.read_bytes()

    expected = rf"layout {LAYOUT + 1}, and edged {__version__} knows those up to {LAYOUT}: a newer edged wrote it"
    with pytest.raises(ConfigError, match=expected), a_journal(path):
        pass

    assert path.read_bytes() == content


def test_the_place_of_a_newer_version_counts_as_none(state: Path) -> None:
    path = place_path(NODE)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 2}))

    assert PlaceFile(path).read(STREAM) is None
