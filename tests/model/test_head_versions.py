"""Versions that were taught, and the record of which one answers."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from edged.errors import ModelError
from edged.model.head_versions import (
    PromotedRecord,
    Version,
    load_head,
    load_promoted,
    load_version,
    save_promoted,
    version_path,
)

ONE, TWO = "1" * 64, "2" * 64
HEAD = bytes(4 * (3 * (2 + 1) + 2 * (3 + 1)))


def keep_version(folder: Path, name: str = ONE, **fields: object) -> Version:
    """A head of 2 features, 3 hidden values and 2 labels."""
    version = Version.model_validate(
        {
            "schema": 1,
            "sha256": ONE,
            "name": "door",
            "labels": ["open", "closed"],
            "base": {"name": "digits", "sha256": "b" * 64},
            "features": 2,
            "hidden": 3,
            "head_sha256": sha256(HEAD).hexdigest(),
            **fields,
        }
    )
    version_path(folder, name, "json").parent.mkdir(exist_ok=True)
    version_path(folder, name, "json").write_text(version.model_dump_json(by_alias=True))
    version_path(folder, name, "head").write_bytes(HEAD)
    return version


def test_a_version_and_its_head_are_read_as_they_were_kept(tmp_path: Path) -> None:
    kept = keep_version(tmp_path)
    assert load_version(tmp_path, ONE) == kept
    assert load_head(tmp_path, kept) == HEAD


def test_a_version_that_is_absent_or_another_one_is_refused(tmp_path: Path) -> None:
    keep_version(tmp_path, name=TWO)
    with pytest.raises(ModelError, match="there is no version 111111111111"):
        load_version(tmp_path, ONE)
    with pytest.raises(ModelError, match="is of version 111111111111"):
        load_version(tmp_path, TWO)


@pytest.mark.parametrize("damage", ["", "{", '{"schema": 1}', "\xff"])
def test_a_damaged_description_is_reported_with_its_file_and_place(tmp_path: Path, damage: str) -> None:
    keep_version(tmp_path)
    version_path(tmp_path, ONE, "json").write_text(damage)
    with pytest.raises(ModelError, match=r"1\.json is damaged: .+; remove it"):
        load_version(tmp_path, ONE)


@pytest.mark.parametrize("damage", [b"", HEAD[:-4], HEAD + b"1234", b"x" + HEAD[1:]])
def test_a_damaged_head_is_refused(tmp_path: Path, damage: bytes) -> None:
    kept = keep_version(tmp_path)
    version_path(tmp_path, ONE, "head").write_bytes(damage)
    with pytest.raises(ModelError, match=r"\.head is damaged"):
        load_head(tmp_path, kept)


def test_nothing_is_promoted_where_nothing_was_kept(tmp_path: Path) -> None:
    assert load_promoted(tmp_path) == PromotedRecord()


def test_what_was_promoted_before_is_gone_back_to_one_by_one(tmp_path: Path) -> None:
    save_promoted(tmp_path / "teach", PromotedRecord().promote(ONE).promote(TWO))
    promoted = load_promoted(tmp_path / "teach")
    assert promoted.version == TWO
    assert promoted.roll_back().version == ONE
    last = promoted.roll_back().roll_back()
    assert (last.version, last.before) == (None, ())
    with pytest.raises(ModelError, match="nothing to go back to"):
        PromotedRecord().roll_back()


def test_only_so_many_promotions_are_remembered() -> None:
    promoted = PromotedRecord()
    for _ in range(100):
        promoted = promoted.promote(ONE).promote(TWO)
    assert len(promoted.before) == 20


@pytest.mark.parametrize("damage", ["", "[]", json.dumps({"schema": 1, "version": "../../etc/passwd"})])
def test_a_damaged_record_of_promotions_is_reported_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    (tmp_path / "promoted.json").write_text(damage)
    with pytest.raises(ModelError, match=r"promoted\.json is damaged: "):
        load_promoted(tmp_path)
    assert (tmp_path / "promoted.json").read_text() == damage


def test_nothing_is_left_beside_a_record_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "promoted.json").mkdir()  # nothing can be put in its place
    with pytest.raises(OSError, match="directory"):
        save_promoted(tmp_path, PromotedRecord().promote(ONE))
    assert [each.name for each in tmp_path.iterdir()] == ["promoted.json"]
