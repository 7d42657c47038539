"""Divide an archive into numbered chunks, each of one day and one camera: the same ones for the same archive.

They are listed in a file, a line of JSON each, so that millions of pictures are never in memory at once.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from edged.batch.archive import ArchiveEntry
from edged.batch.video_frames import VideoSection, sections_of
from edged.system.plain_text import plain

MOST_PENDING = 100_000  # entries in memory while they are grouped

Group = tuple[str | None, str]  # day and camera


@dataclass(frozen=True)
class ListedPicture:
    """A picture below the archive's root. `captured_at`: seconds since 1970."""

    name: str
    captured_at: float | None


@dataclass(frozen=True)
class ArchiveChunk:
    """Pictures, or a section of a video, of one day (UTC, None if unknown) and camera, answered in one file."""

    number: int
    day: str | None
    camera: str
    pictures: tuple[ListedPicture, ...] = ()
    section: VideoSection | None = None

    @property
    def expected(self) -> int:
        """Return how many answers it will have; of a video's end by the estimate of its file."""
        return self.section.expected if self.section else len(self.pictures)

    def to_line(self) -> bytes:
        """Return it as a line of the list."""
        return json.dumps(asdict(self)).encode() + b"\n"


@dataclass(frozen=True)
class ChunkTotals:
    """The sums of a list of chunks."""

    chunks: int
    expected: int


def chunk_from_line(line: bytes) -> ArchiveChunk:
    """Read a line that `to_line` wrote."""
    values = json.loads(line)
    section = values.pop("section")
    pictures = tuple(ListedPicture(**each) for each in values.pop("pictures"))
    return ArchiveChunk(**values, pictures=pictures, section=VideoSection(**section) if section else None)


def write_chunks(
    file: BinaryIO, entries: Iterable[ArchiveEntry], root: Path, size: int, stride: int
) -> ChunkTotals:
    """Write the chunks of at most `size` answers each. `stride`: every so many frames of a video.

    Raises DataError.
    """
    count = expected = 0
    for chunk in chunks_of(entries, root, size, stride):
        file.write(chunk.to_line())
        count, expected = count + 1, expected + chunk.expected
    return ChunkTotals(count, expected)


def chunks_of(entries: Iterable[ArchiveEntry], root: Path, size: int, stride: int) -> Iterator[ArchiveChunk]:
    """Yield the chunks, numbered from 0: those that are full at once, the others at the end.

    If entries of very many days and cameras alternate, the largest group becomes a chunk before it is full.
    """
    pending: dict[Group, list[ListedPicture]] = {}
    waiting = number = 0
    for entry in entries:
        group = (_day_of(entry.captured_at), plain(entry.camera))
        if entry.is_video:
            for section in sections_of(root, entry.name, entry.captured_at, size, stride):
                yield ArchiveChunk(number, *group, section=section)
                number += 1
            continue
        pending.setdefault(group, []).append(ListedPicture(entry.name, entry.captured_at))
        waiting += 1
        if len(pending[group]) < size and waiting < MOST_PENDING:
            continue
        full = group if len(pending[group]) == size else max(pending, key=lambda each: len(pending[each]))
        pictures = pending.pop(full)
        waiting -= len(pictures)
        yield ArchiveChunk(number, *full, pictures=tuple(pictures))
        number += 1
    for index, (group, pictures) in enumerate(pending.items()):
        yield ArchiveChunk(number + index, *group, pictures=tuple(pictures))


def _day_of(captured_at: float | None) -> str | None:
    return None if captured_at is None else datetime.fromtimestamp(captured_at, UTC).date().isoformat()
