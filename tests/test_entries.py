"""What one start leaves on disk for the next."""

import logging
import os
from pathlib import Path

import pytest

from edged.entries import FORMAT, HEADER, Entries, code_sha256


def test_an_entry_is_checked_only_when_asked(tmp_path: Path) -> None:
    entries = Entries(tmp_path, "thing")
    entries.save("key", [b"one piece", b" and another"])
    (tmp_path / "key.thing").write_bytes(bytes(HEADER) + b"something else")

    found = entries.find("key")

    assert found is not None
    assert bytes(found.content) == b"something else"
    assert not found.is_whole()
    assert entries.load("key") is None


@pytest.mark.parametrize("other", [b"edged cache 1\n", b"edged program 1\n"])
def test_an_entry_of_another_version_is_no_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, other: bytes
) -> None:
    entries = Entries(tmp_path, "thing")
    entries.save("key", [b"content"])
    file = tmp_path / "key.thing"
    file.write_bytes(file.read_bytes().replace(FORMAT, other))

    with caplog.at_level(logging.INFO):
        assert entries.load("key") is None
    assert caplog.text == ""


def test_a_damaged_entry_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entries = Entries(tmp_path, "thing")
    entries.save("key", [b"content"])
    (tmp_path / "key.thing").write_bytes(FORMAT + bytes(HEADER))

    assert entries.load("key") is None
    assert f"{tmp_path / 'key.thing'} is damaged" in caplog.text


def test_a_mapped_entry_outlives_its_file(tmp_path: Path) -> None:
    entries = Entries(tmp_path, "thing")
    entries.save("key", [b"before"])
    content = entries.load("key")

    entries.save("key", [b"after, and longer"])

    assert bytes(content or b"") == b"before"
    assert bytes(entries.load("key") or b"") == b"after, and longer"


def test_the_least_used_makes_room(tmp_path: Path) -> None:
    entries = Entries(tmp_path, "thing", limit=3 * HEADER)
    for age, key in ((30, "oldest"), (20, "old")):
        entries.save(key, [b"content"])
        os.utime(tmp_path / f"{key}.thing", (1e9 - age, 1e9 - age))
    entries.load("oldest")  # and so it is no longer that

    entries.save("new", [b"content"])

    assert sorted(file.stem for file in tmp_path.iterdir()) == ["new", "oldest"]


def test_an_entry_above_the_limit_is_kept_alone(tmp_path: Path) -> None:
    entries = Entries(tmp_path, "thing", limit=10)
    entries.save("small", [b"content"])
    entries.save("large", [b"content" * 100])

    assert [file.stem for file in tmp_path.iterdir()] == ["large"]


def test_other_files_of_the_folder_are_let_be(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    Entries(tmp_path, "thing", limit=1).save("key", [b"content"])

    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("package", ["edged.model", "edged.engine"])
def test_code_of_another_package_is_other_code(package: str) -> None:
    assert code_sha256(package) == code_sha256(package)
    assert code_sha256(package) != code_sha256("edged.energy")
