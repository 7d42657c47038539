"""Classify the chunks of a run on a Ray cluster.

An actor writes the files of its chunks itself, so that answers never travel. A chunk done twice is the same file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edged.batch.answers_file import AnswerCount
from edged.batch.chunks import ChunkTotals
from edged.batch.classify import ChunkClassifier, ClassifyOptions
from edged.batch.run_folder import RunFolder
from edged.cluster.node import NO_ERROR, ClusterOptions, NodeOptions, error_columns, model_of_node
from edged.cluster.pool import map_on_actors
from edged.errors import DeviceError, EdgedError


@dataclass(frozen=True)
class ChunkActorOptions:
    """What an actor needs. `root`: the folder of the archive."""

    node: NodeOptions
    root: Path
    output: Path
    classify: ClassifyOptions


class ChunkActor:
    """Classifies chunks on one device of one node."""

    def __init__(self, options: ChunkActorOptions) -> None:
        self._run = RunFolder(options.output, ChunkTotals(0, 0))
        self._classifier: ChunkClassifier | None = None
        self._error: EdgedError = DeviceError("the device is closed")
        try:
            self._classifier = ChunkClassifier(model_of_node(options.node), options.root, options.classify)
        except EdgedError as error:
            self._error = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Classify the chunk at `offset` of the list, unless that is done; return how many answers it has."""
        try:
            count = self._classified(int(batch["index"][0]))
        except EdgedError as error:
            return {"pictures": [0], "problems": [0], **error_columns(error)}
        return {"pictures": [count.pictures], "problems": [count.problems], **NO_ERROR}

    def _classified(self, offset: int) -> AnswerCount:
        if self._classifier is None:
            raise self._error
        chunk = self._run.chunk_at(offset)
        path = self._run.path_of(chunk)
        return AnswerCount(0, 0) if path.exists() else self._classifier.write(chunk, path)


def classify_on_cluster(
    offsets: Sequence[int], cluster: ClusterOptions, options: ChunkActorOptions
) -> Iterator[AnswerCount]:
    """Yield the count of answers of each chunk that is done, in any order. `offsets`: of chunks in the list.

    Raises what `edged.cluster.pool.map_on_actors` does.
    """
    for row in map_on_actors(cluster, ChunkActor, options, [{"index": offset} for offset in offsets]):
        yield AnswerCount(row["pictures"], row["problems"])
