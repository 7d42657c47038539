"""Compiled programs on disk."""

from pathlib import Path

import pytest

from edged.engine.programs import Binaries


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file of one entry, `key`."""
    Binaries(tmp_path / "programs").save("key", b"compiled")
    (file,) = (tmp_path / "programs").iterdir()
    return file


def test_what_was_saved_comes_back(saved: Path) -> None:
    assert Binaries(saved.parent).load("key") == b"compiled"
    assert Binaries(saved.parent).load("another") is None


@pytest.mark.parametrize("position", [40, -1])
def test_an_entry_with_a_flipped_bit_is_refused(saved: Path, position: int) -> None:
    content = bytearray(saved.read_bytes())
    content[position] ^= 1
    saved.write_bytes(content)

    assert Binaries(saved.parent).load("key") is None


@pytest.mark.parametrize("length", [0, 10, 40, 50])
def test_an_entry_that_was_cut_is_refused(saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])

    assert Binaries(saved.parent).load("key") is None


def test_an_entry_under_the_name_of_another_is_refused(saved: Path) -> None:
    saved.rename(saved.with_stem("another"))

    assert Binaries(saved.parent).load("another") is None


def test_saving_leaves_nothing_else_behind(saved: Path) -> None:
    Binaries(saved.parent).save("key", b"compiled again")

    assert [file.name for file in saved.parent.iterdir()] == ["key.program"]
    assert Binaries(saved.parent).load("key") == b"compiled again"


def test_a_disk_that_refuses_leaves_nothing_behind(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(OSError, match="no space left"):
        Binaries(saved.parent).save("another", b"compiled")
    assert list(saved.parent.iterdir()) == [saved]
