"""The output folder of a run: the list of its chunks, and a Parquet file for each chunk that is done.

A file appears whole, under the number of its chunk, so that a resumed run skips it, and one that was
interrupted while it wrote leaves nothing but a hidden file.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from edged.batch.answers_file import AnswerCount, count_answers
from edged.batch.chunks import ArchiveChunk, ChunkTotals, chunk_from_line
from edged.errors import ConfigError
from edged.system.exclusive_lock import try_lock
from edged.system.files import FOR_ALL, reading, replace_file

OURS = "_edged"  # readers of partitioned folders skip names that begin with an underscore
NO_DAY = "__HIVE_DEFAULT_PARTITION__"  # what they read as null


@dataclass(frozen=True)
class RunIdentity:
    """Everything that the answers depend on, except the device: a run resumes only with the same."""

    edged: str
    model: str
    preparation: str
    precision: str
    batch: int
    top: int
    input: str
    camera: str | None
    chunk: int
    stride: int


class RunFolder:
    """A run whose chunks are listed, in the folder of its output."""

    def __init__(self, output: Path, totals: ChunkTotals) -> None:
        self._output = output
        self.totals = totals

    def unfinished(self) -> Iterator[tuple[int, ArchiveChunk]]:
        """Yield the chunks that have no file yet, each with its place in the list."""
        return ((offset, chunk) for offset, chunk in self._chunks() if not self.path_of(chunk).exists())

    def answers_done(self) -> AnswerCount:
        """Count the answers of all files. Raises ConfigError for one that is damaged."""
        counts = [count_answers(path) for _, chunk in self._chunks() if (path := self.path_of(chunk)).exists()]
        return AnswerCount(sum(each.pictures for each in counts), sum(each.problems for each in counts))

    def chunk_at(self, offset: int) -> ArchiveChunk:
        """Read the chunk at a place in the list. Raises ConfigError if this host does not see that."""
        with reading(_chunks_path(self._output)), _chunks_path(self._output).open("rb") as listed:
            listed.seek(offset)
            return chunk_from_line(listed.readline())

    def path_of(self, chunk: ArchiveChunk) -> Path:
        day, camera = chunk.day or NO_DAY, quote(chunk.camera, safe="")
        return self._output / f"day={day}" / f"camera={camera}" / f"part-{chunk.number:08}.parquet"

    def remove_unfinished_files(self) -> None:
        """Delete what killed processes have begun to write."""
        for path in self._output.glob("day=*/camera=*/.part-*.parquet-*"):
            path.unlink(missing_ok=True)

    def _chunks(self) -> Iterator[tuple[int, ArchiveChunk]]:
        with _chunks_path(self._output).open("rb") as listed:
            offset = 0
            for line in listed:
                yield offset, chunk_from_line(line)
                offset += len(line)


@contextmanager
def open_run(
    output: Path, identity: RunIdentity, write_list: Callable[[BinaryIO], ChunkTotals]
) -> Iterator[RunFolder]:
    """Resume the run in a folder, or begin one in an empty folder; no other process may meanwhile.

    write_list: writes the chunks of a new run. Raises ConfigError for a folder that holds something else, or is in
    use.
    """
    try:
        lock = _lock(output)
    except OSError as error:
        raise ConfigError(f"--output {output}: cannot be used: {error.strerror}") from None
    try:
        run = _opened(output, identity, write_list)
        run.remove_unfinished_files()
        yield run
    finally:
        os.close(lock)


def _lock(output: Path) -> int:
    """Make the folder of the run and lock it. Raises OSError, ConfigError."""
    ours = output / OURS
    if not ours.is_dir() and output.is_dir() and any(output.iterdir()):
        raise ConfigError(f"--output {output}: is not empty, and holds no run of `edged batch`: name a new folder")
    ours.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(ours / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not try_lock(descriptor):
        os.close(descriptor)
        raise ConfigError(
            f"--output {output}: another `edged batch` writes there, or it permits no locks: end that one"
        )
    return descriptor


def _opened(output: Path, identity: RunIdentity, write_list: Callable[[BinaryIO], ChunkTotals]) -> RunFolder:
    """Return the run of this folder, begun if it is new. Raises ConfigError."""
    try:
        if not (output / OURS / "run.json").exists():
            _write_run(output, identity, write_list)
        return RunFolder(output, _require_same(output, identity))
    except OSError as error:
        raise ConfigError(f"--output {output}: cannot be used: {error.strerror}") from None


def _write_run(output: Path, identity: RunIdentity, write_list: Callable[[BinaryIO], ChunkTotals]) -> None:
    """Write the list of chunks, and then what makes it valid."""
    with replace_file(_chunks_path(output), FOR_ALL) as file:
        totals = write_list(file)
    with replace_file(output / OURS / "run.json", FOR_ALL) as file:
        file.write(json.dumps({"run": asdict(identity), "totals": asdict(totals)}, indent=2).encode())


def _require_same(output: Path, identity: RunIdentity) -> ChunkTotals:
    path = output / OURS / "run.json"
    try:
        found = json.loads(path.read_bytes())
        earlier, totals = found["run"], ChunkTotals(**found["totals"])
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{path}: is damaged: delete {output}, and begin again") from None
    wanted = asdict(identity)
    for key in wanted:
        if earlier.get(key) != wanted[key]:
            was, is_now = earlier.get(key), wanted[key]
            raise ConfigError(
                f"--output {output}: holds another run, whose `{key}` is {was}, not {is_now}: name a new folder"
            )
    return totals


def _chunks_path(output: Path) -> Path:
    return output / OURS / "chunks.jsonl"
