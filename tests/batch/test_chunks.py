"""Chunks: numbered, of one day and one camera, the same ones for the same archive."""

import io
from pathlib import Path

import pytest

from edged.batch import chunks
from edged.batch.archive import ArchiveEntry, archive_entries
from edged.batch.chunks import ArchiveChunk, chunk_from_line, chunks_of, write_chunks
from tests.batch.archives import NOON, archive

FIRST, SECOND = NOON.values()


def entries(cameras: str, time: float = FIRST) -> list[ArchiveEntry]:
    """A picture for each letter, which is its camera."""
    return [ArchiveEntry(f"{number}.png", camera, time) for number, camera in enumerate(cameras)]


def names(chunks: list[ArchiveChunk]) -> list[tuple[int, str, str]]:
    return [(chunk.number, chunk.camera, " ".join(each.name[:-4] for each in chunk.pictures)) for chunk in chunks]


def test_cameras_that_alternate_fill_chunks_of_their_own() -> None:
    chunks = list(chunks_of(entries("abababa"), Path(), 3, 1))

    assert names(chunks) == [(0, "a", "0 2 4"), (1, "b", "1 3 5"), (2, "a", "6")]


def test_days_are_those_of_utc_and_unknown_for_absent_files() -> None:
    midnight = SECOND - 12 * 3600
    times = [midnight - 1, midnight, None]
    chunks = chunks_of([ArchiveEntry("x.png", "a", time) for time in times], Path(), 3, 1)

    assert [chunk.day for chunk in chunks] == ["2026-01-05", "2026-01-06", None]


def test_entries_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST_PENDING", 4)

    found = list(chunks_of(entries("aabcdd"), Path(), 100, 1))

    assert names(found) == [(0, "a", "0 1"), (1, "d", "4 5"), (2, "b", "2"), (3, "c", "3")]


def test_a_list_is_the_same_each_time_and_reads_as_it_was_written(tmp_path: Path) -> None:
    root = archive(tmp_path)
    files = [io.BytesIO(), io.BytesIO()]

    totals = [write_chunks(file, archive_entries(root, None), root, 3, 1) for file in files]

    assert files[0].getvalue() == files[1].getvalue()
    chunks = [chunk_from_line(line) for line in files[0].getvalue().splitlines()]
    assert b"".join(chunk.to_line() for chunk in chunks) == files[0].getvalue()
    assert [chunk.number for chunk in chunks] == list(range(totals[0].chunks))
    assert totals[0].expected == sum(chunk.expected for chunk in chunks) == 4 * 4 + 1 + 10
