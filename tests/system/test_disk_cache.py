"""What one start leaves on disk for the next."""

import logging
import os
from collections.abc import Callable
from itertools import dropwhile
from pathlib import Path

import pytest

from edged.system.disk_cache import FORMAT, HEADER, CacheEntries, code_sha256, read_once


def test_an_entry_is_checked_only_when_asked(tmp_path: Path) -> None:
    entries = CacheEntries(tmp_path, "thing")
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
    entries = CacheEntries(tmp_path, "thing")
    entries.save("key", [b"content"])
    file = tmp_path / "key.thing"
    file.write_bytes(file.read_bytes().replace(FORMAT, other))

    with caplog.at_level(logging.INFO):
        assert entries.load("key") is None
    assert caplog.text == ""


def test_a_damaged_entry_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entries = CacheEntries(tmp_path, "thing")
    entries.save("key", [b"content"])
    (tmp_path / "key.thing").write_bytes(FORMAT + bytes(HEADER))

    assert entries.load("key") is None
    assert f"{tmp_path / 'key.thing'} is damaged" in caplog.text


def test_a_mapped_entry_outlives_its_file(tmp_path: Path) -> None:
    entries = CacheEntries(tmp_path, "thing")
    entries.save("key", [b"before"])
    content = entries.load("key")

    entries.save("key", [b"after, and longer"])

    assert bytes(content or b"") == b"before"
    assert bytes(entries.load("key") or b"") == b"after, and longer"


def test_an_entry_that_is_read_once_does_not_stay_in_memory(tmp_path: Path) -> None:
    entries, pages = CacheEntries(tmp_path, "thing"), [bytes([page]) * HEADER for page in range(200)]
    entries.save("key", pages)
    content = entries.load("key")
    assert content is not None
    assert kilobytes_in_memory(tmp_path / "key.thing") >= 800

    pieces = [bytes(piece) for piece in read_once(content, 7 * HEADER)]

    assert b"".join(pieces) == b"".join(pages) == bytes(content[: 200 * HEADER])
    list(read_once(content))
    assert kilobytes_in_memory(tmp_path / "key.thing") < 100


def kilobytes_in_memory(file: Path) -> int:
    """How much of a mapped file this process holds."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    rest = dropwhile(lambda line: str(file) not in line, lines)
    return next(int(line.split()[1]) for line in rest if line.startswith("Rss:"))


def test_the_least_used_makes_room(tmp_path: Path) -> None:
    entries = CacheEntries(tmp_path, "thing", limit=3 * HEADER)
    for age, key in ((30, "oldest"), (20, "old")):
        entries.save(key, [b"content"])
        os.utime(tmp_path / f"{key}.thing", (1e9 - age, 1e9 - age))
    entries.load("oldest")  # and so it is no longer that

    entries.save("new", [b"content"])

    assert sorted(file.stem for file in tmp_path.iterdir()) == ["new", "oldest"]


def test_an_entry_above_the_limit_is_kept_alone(tmp_path: Path) -> None:
    entries = CacheEntries(tmp_path, "thing", limit=10)
    entries.save("small", [b"content"])
    entries.save("large", [b"content" * 100])

    assert [file.stem for file in tmp_path.iterdir()] == ["large"]


def test_other_files_of_the_folder_are_let_be(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    CacheEntries(tmp_path, "thing", limit=1).save("key", [b"content"])

    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("package", ["edged.model", "edged.engine"])
def test_code_of_another_package_is_other_code(package: str) -> None:
    assert code_sha256(package) == code_sha256(package)
    assert code_sha256(package) != code_sha256("edged.energy")


def opened_to_others(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def given_to_another_user(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a file away")
    os.chown(path, 12345, -1)


@pytest.mark.parametrize(
    ("change", "what_to_do"),
    [(opened_to_others, "chmod go-w"), (given_to_another_user, "belongs to another user and is ignored")],
)
@pytest.mark.parametrize("what", [".", "key.thing"])
def test_an_entry_that_another_user_could_have_written_is_not_used(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[Path], None],
    what_to_do: str,
    what: str,
) -> None:
    folder = tmp_path / "cache"
    CacheEntries(folder, "thing").save("key", [b"content"])
    change(folder / what)

    entries = CacheEntries(folder, "thing")
    found = [entries.load("key"), entries.load("key")]

    assert found == [None, None]
    [record] = caplog.records  # one warning, however often it is looked up
    assert what_to_do in record.getMessage()


def test_an_entry_that_others_may_write_is_made_again(tmp_path: Path) -> None:
    entries = CacheEntries(tmp_path / "cache", "thing")
    entries.save("key", [b"content"])
    opened_to_others(tmp_path / "cache" / "key.thing")

    entries.save("key", [b"made again"])

    assert bytes(entries.load("key") or b"") == b"made again"


def test_nothing_is_written_into_a_folder_that_others_may_write(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    opened_to_others(folder)

    CacheEntries(folder, "thing").save("key", [b"content"])

    assert list(folder.iterdir()) == []


def test_a_new_folder_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        CacheEntries(tmp_path / "cache", "thing").save("key", [b"content"])
    finally:
        os.umask(before)

    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert CacheEntries(tmp_path / "cache", "thing").load("key") is not None
