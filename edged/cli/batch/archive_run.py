"""Run `edged batch`: list the chunks of an archive or resume them, show its progress, and sum up its files."""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from edged import __version__
from edged.batch.answers_file import AnswerCount
from edged.batch.archive import ArchiveEntry, archive_entries, archive_root
from edged.batch.chunks import ChunkTotals, write_chunks
from edged.batch.classify import ChunkClassifier, ClassifyOptions
from edged.batch.reading import default_readers
from edged.batch.run_folder import OURS, RunFolder, RunIdentity, open_run
from edged.cli.cluster_options import cluster_of, messages_of_ray, node_options, preparation_of, worker_config
from edged.cli.model_options import given_model, show_preparation
from edged.errors import ConfigError
from edged.model.package import Model
from edged.system.plain_text import counted, printable_json, printable_lines
from edged.system.terminal import Progress, StatusLine, note, warn

LISTED = 1000  # entries between two updates of the status line


@dataclass(frozen=True, eq=False)
class ArchiveRun:
    """A run of `edged batch` with its model."""

    arguments: argparse.Namespace
    model: Model
    options: ClassifyOptions
    run: RunFolder

    @property
    def root(self) -> Path:
        return archive_root(self.arguments.input.absolute())


@dataclass(frozen=True)
class BatchSummary:
    """The sums of all files, and the speed of this run, which answered so many pictures."""

    done: AnswerCount
    answered_now: int
    seconds: float

    @property
    def rate(self) -> float:
        """Return the pictures a second."""
        return self.answered_now / self.seconds if self.answered_now else 0.0


def run_batch(arguments: argparse.Namespace) -> None:
    """Classify what is not yet done, and print the sums. Raises EdgedError."""
    readers = arguments.readers or default_readers(arguments.threads)
    options = ClassifyOptions(worker_config(arguments), arguments.top, readers, upright=not arguments.no_exif)
    model = given_model(arguments)
    show_preparation(model)
    write_list = partial(_write_chunks, arguments)
    with (
        open_run(arguments.output.absolute(), _identity(arguments, model), write_list) as run,
        messages_of_ray(arguments, arguments.output / OURS / "ray.log"),
    ):
        summary = _classify(ArchiveRun(arguments, model, options, run))
    if arguments.json:
        print(printable_json(json.dumps(_as_object(arguments, model, summary), ensure_ascii=False)))
    else:
        print(printable_lines(_as_text(arguments, summary)))
    if summary.done.problems:
        warn(f"{counted(summary.done.problems, 'picture')} without an answer: column `problem` says why")


def _identity(arguments: argparse.Namespace, model: Model) -> RunIdentity:
    preparation = [*preparation_of(model), *(["no-exif"] if arguments.no_exif else [])]
    return RunIdentity(
        edged=__version__,
        model=f"{model.name} {model.sha256}",
        preparation=json.dumps(preparation),
        precision=arguments.precision,
        batch=arguments.batch,
        top=arguments.top,
        input=str(arguments.input.absolute()),
        camera=arguments.camera,
        chunk=arguments.chunk,
        stride=arguments.stride,
    )


def _write_chunks(arguments: argparse.Namespace, file: BinaryIO) -> ChunkTotals:
    """Write the chunks of a new run, and show how far that is. Raises ConfigError, DataError."""
    path = arguments.input.absolute()
    entries = _shown(archive_entries(path, arguments.camera), arguments.input)
    totals = write_chunks(file, entries, archive_root(path), arguments.chunk, arguments.stride)
    if not totals.chunks:
        raise ConfigError(f"--input {arguments.input}: holds no pictures or videos")
    return totals


def _shown(entries: Iterable[ArchiveEntry], path: Path) -> Iterator[ArchiveEntry]:
    line = StatusLine()
    for count, entry in enumerate(entries):
        if count % LISTED == 0:
            line.show(f"listing {path}: {counted(count, 'file')}")
        yield entry
    line.clear()


def _classify(archive_run: ArchiveRun) -> BatchSummary:
    """Classify the chunks that have no file. Raises EdgedError, KeyboardInterrupt."""
    offsets = [offset for offset, _ in archive_run.run.unfinished()]
    begun_at = archive_run.run.answers_done().pictures
    totals = archive_run.run.totals
    if begun_at or len(offsets) < totals.chunks:
        note(f"resuming after {totals.chunks - len(offsets)} of {counted(totals.chunks, 'file')}")
    answered, start, progress = 0, time.perf_counter(), Progress(begun_at, totals.expected)
    classify = _on_cluster if archive_run.arguments.ray else _here
    try:
        for count in classify(archive_run, offsets) if offsets else ():
            answered += count.pictures
            progress.show(begun_at + answered, archive_run.model.name)
    except KeyboardInterrupt:
        done = f"{begun_at + answered} of {counted(totals.expected, 'picture')}"
        note(f"stopped after {done}; the same command resumes there")
        raise
    finally:
        progress.clear()
    seconds = time.perf_counter() - start
    return BatchSummary(archive_run.run.answers_done(), answered, seconds)


def _here(archive_run: ArchiveRun, offsets: Sequence[int]) -> Iterator[AnswerCount]:
    classifier = ChunkClassifier(archive_run.model, archive_run.root, archive_run.options)
    try:
        for offset in offsets:
            chunk = archive_run.run.chunk_at(offset)
            yield classifier.write(chunk, archive_run.run.path_of(chunk))
    finally:
        classifier.close()


def _on_cluster(archive_run: ArchiveRun, offsets: Sequence[int]) -> Iterator[AnswerCount]:
    from edged.batch.cluster import ChunkActorOptions, classify_on_cluster

    arguments, output = archive_run.arguments, archive_run.arguments.output.absolute()
    node = node_options(arguments, archive_run.model, archive_run.root, output)
    options = ChunkActorOptions(node, archive_run.root, output, archive_run.options)
    return classify_on_cluster(offsets, cluster_of(arguments), options)


def _as_object(arguments: argparse.Namespace, model: Model, summary: BatchSummary) -> dict[str, object]:
    return {
        "model": {"name": model.name, "sha256": model.sha256, "random_weights": model.random_weights},
        "input": str(arguments.input),
        "output": str(arguments.output),
        "pictures": summary.done.pictures,
        "problems": summary.done.problems,
        "answered_now": summary.answered_now,
        "seconds": summary.seconds,
        "pictures_per_s": summary.rate,
    }


def _as_text(arguments: argparse.Namespace, summary: BatchSummary) -> str:
    done = summary.done
    now = f"; {summary.answered_now} now, {summary.rate:.1f} pictures/s" if summary.answered_now else ""
    return f"{counted(done.pictures, 'picture')}, {done.problems} without an answer, in {arguments.output}{now}"
