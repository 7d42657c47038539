"""Classify the chunks of a run on a Ray cluster, by a pool of actors: one a device, each warm once.

An actor writes the files of its chunks itself, so that answers never travel. Ray restarts an actor that was
killed, and gives its chunks to another one; a chunk that is done twice is the same file. Needs ray, an optional
dependency.
"""

import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import ray.data

from edged import __version__, config, errors
from edged.batch.answers_file import AnswerCount
from edged.batch.chunks import ChunkTotals
from edged.batch.classify import ChunkClassifier, ClassifyOptions
from edged.batch.run_folder import RunFolder
from edged.errors import ConfigError, DeviceError, EdgedError
from edged.model.package import load_model
from edged.runtime.device_lock import hold_device
from edged.worker.threads import limit_threads

CONNECT_S = 5.0
MOST_TASKS = 4096  # each takes one chunk, or several where there are more
IN_FLIGHT = 2  # tasks of an actor, so that it never waits for the next one


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster and its part that a run takes. `resource`: what a node has for each device."""

    address: str
    resource: str
    actors: int | None


@dataclass(frozen=True)
class ActorOptions:
    """What an actor needs. `model_sha256`: of the driver's model; `root`: the folder of the archive."""

    version: str
    model: config.ModelConfig
    model_sha256: str
    root: Path
    output: Path
    classify: ClassifyOptions


class ChunkActor:
    """Classifies chunks on one device of one node.

    An error of the node is an answer of the actor, since what is raised here would be a traceback at the driver.
    """

    def __init__(self, options: ActorOptions) -> None:
        self._run = RunFolder(options.output, ChunkTotals(0, 0))
        self._classifier: ChunkClassifier | None = None
        self._error: EdgedError | None = None
        try:
            self._classifier = _opened(options)
        except EdgedError as error:
            self._error = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Classify the chunk at `place` of the list, unless that is done; return how many answers it has."""
        try:
            count = self._classified(int(batch["place"][0]))
        except EdgedError as error:
            text = f"node {socket.gethostname()}: {error}"
            return {"pictures": [0], "problems": [0], "error": [text], "kind": [type(error).__name__]}
        return {"pictures": [count.pictures], "problems": [count.problems], "error": [""], "kind": [""]}

    def _classified(self, place: int) -> AnswerCount:
        if self._classifier is None:
            raise self._error or DeviceError("the device is closed")
        chunk = self._run.chunk_at(place)
        path = self._run.path_of(chunk)
        return AnswerCount(0, 0) if path.exists() else self._classifier.write(chunk, path)


def classify_on_cluster(
    run: RunFolder, places: Sequence[int], cluster: ClusterOptions, actor: ActorOptions
) -> Iterator[AnswerCount]:
    """Yield the count of answers of each chunk that is done, in any order. `places`: of chunks in the list.

    Raises ConfigError without a Ray cluster or without the resource, and the errors of the nodes.
    """
    _connect(cluster.address)
    devices = _devices_of(cluster)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    rows = [{"place": place} for place in places]
    chunks = ray.data.from_items(rows, override_num_blocks=min(len(rows), MOST_TASKS))
    answered = chunks.map_batches(
        ChunkActor,
        fn_constructor_args=(actor,),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=devices, max_tasks_in_flight_per_actor=IN_FLIGHT),
        num_cpus=0,
        resources={cluster.resource: 1},
    )
    for row in answered.iter_rows():
        if row["error"]:
            raise getattr(errors, row["kind"])(row["error"])
        yield AnswerCount(row["pictures"], row["problems"])


@contextmanager
def ray_messages(path: Path) -> Iterator[None]:
    """Write what Ray prints on standard error into a file: its C++ part repeats lines without end.

    Meanwhile `sys.stderr` is the former standard error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    with path.open("ab") as file, os.fdopen(os.dup(2), "w", buffering=1) as former:
        replaced, sys.stderr = sys.stderr, former
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr = replaced
            os.dup2(former.fileno(), 2)


def _opened(options: ActorOptions) -> ChunkClassifier:
    """Open the device of this node, after checking that it has what the driver has. Raises EdgedError."""
    worker = options.classify.worker
    limit_threads(worker.threads)
    if options.version != __version__:
        raise ConfigError(f"has edged {__version__}, but the driver has {options.version}: install the same")
    for folder in (options.root, options.output):
        if not folder.is_dir():
            raise ConfigError(f"{folder} is absent: mount archive and output at the same place on every node")
    model = load_model(options.model)
    if model.sha256 != options.model_sha256:
        raise ConfigError(f"{model.name} is another file than the driver's: copy that to every node")
    try:
        hold_device(worker, f"batch-{os.getpid()}")
    except DeviceError as error:
        share = "a node needs the resource once for each device; actors share a CPU with --threads"
        raise DeviceError(f"{error} ({share})") from None
    return ChunkClassifier(model, options.root, options.classify)


def _connect(address: str) -> None:
    """Connect to the cluster. Raises ConfigError."""
    _require_listener(address)
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        hint = "if its nodes have a token, set RAY_AUTH_MODE=token and that token here too"
        raise ConfigError(f"--ray {address}: {reason or type(error).__name__}; {hint}") from None


def _require_listener(address: str) -> None:
    """Raise ConfigError if nothing listens at HOST:PORT, for which Ray itself waits a minute."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"--ray {address}: no Ray there ({error}): start its head by `ray start --head`, or name another"
        ) from None


def _devices_of(cluster: ClusterOptions) -> int:
    """Return how many actors to start. Raises ConfigError if the cluster has no such resource."""
    found = int(ray.cluster_resources().get(cluster.resource, 0))
    if found < 1:
        start = f"ray start … --resources '{{\"{cluster.resource}\": 1}}'"
        raise ConfigError(
            f"--ray {cluster.address}: no node has the resource `{cluster.resource}`: start each by `{start}`"
        )
    return min(found, cluster.actors or found)
