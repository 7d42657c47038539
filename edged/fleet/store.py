"""The fleet's place in NATS: models in an object store, the roll-out and the reports in a key-value bucket."""

import asyncio
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from edged.errors import ConfigError, EdgedError, ModelError, ServerError
from edged.fleet.records import NodeReport, Record, Rollout, SignedModel

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.kv import KeyValue
    from nats.js.object_store import ObjectStore

BUCKET, MODELS = "edged_fleet", "edged_models"
ROLLOUT = "rollout"
ANSWER_S = 5.0
FETCH_S = 600.0
SEEN_S = 5.0  # after which the server forgets a reader of the bucket

T = TypeVar("T", bound=Record)


@dataclass
class FleetState:
    """Everything in the bucket. `reported_at`: by the server's clock, when each node has reported last."""

    rollout: Rollout | None = None
    revision: int = 0  # of the roll-out
    nodes: dict[str, NodeReport] = field(default_factory=dict)
    reported_at: dict[str, datetime] = field(default_factory=dict)
    models: dict[str, SignedModel] = field(default_factory=dict)

    def add(self, entry: "KeyValue.Entry") -> None:
        """Add a key; a record that is damaged is left out."""
        kind, _, name = entry.key.partition(".")
        created: Any = entry.created  # nats-py gives the time of the message here, whatever it declares
        if kind == "node":
            report = _parsed(NodeReport, entry.value)
            if report and report.node == name:
                self.nodes[name], self.reported_at[name] = report, created
        elif kind == "model" and (model := _parsed(SignedModel, entry.value)):
            self.models[name] = model
        elif kind == ROLLOUT:
            self.rollout, self.revision = _parsed(Rollout, entry.value), entry.revision or 0

    def silent_s(self, node: str) -> float:
        """Return for how long a node had been silent when any node reported last: by the server's clock alone."""
        return max(0.0, (max(self.reported_at.values()) - self.reported_at[node]).total_seconds())

    def silent(self, longest_s: float) -> set[str]:
        """Return the nodes that have been silent for longer."""
        return {node for node in self.reported_at if self.silent_s(node) > longest_s}


class FleetStore:
    """Reads and writes both, over a connection that is open."""

    def __init__(self, client: "Client", bucket: "KeyValue", models: "ObjectStore") -> None:
        self._client, self._bucket, self._models = client, bucket, models

    @property
    def is_closed(self) -> bool:
        """Return whether the connection is lost, and does not come back."""
        return self._client.is_closed

    @classmethod
    async def open(cls, client: "Client", *, create: bool = False) -> "FleetStore":
        """Open both. `create`: make what is missing. Raises ServerError."""
        from nats.js.errors import NotFoundError

        stream = client.jetstream(timeout=ANSWER_S)
        with server_errors():
            try:
                return cls(client, await stream.key_value(BUCKET), await stream.object_store(MODELS))
            except NotFoundError:
                if not create:
                    raise ServerError(
                        f"the server has no bucket {BUCKET}: `edged fleet publish` makes it"
                    ) from None
            bucket = await stream.create_key_value(bucket=BUCKET, history=1)
            return cls(client, bucket, await stream.create_object_store(bucket=MODELS))

    async def publish(self, model: SignedModel, content: Path) -> None:
        """Store the file of a model under its hash, then the model under its name."""
        with server_errors(), content.open("rb") as file:
            await self._models.put(model.sha256, io.BufferedReader(file.raw))
            await self._bucket.put(f"model.{model.name}", _json(model))

    async def model(self, name: str) -> SignedModel:
        """Return the newest model of this name. Raises ConfigError if there is none."""
        found = await self._get(f"model.{name}", SignedModel)
        if found is None:
            raise ConfigError(f"no model {name} is published: `edged fleet publish FILE --name {name}`")
        return found[0]

    async def fetch(self, model: SignedModel, path: Path) -> None:
        """Write the file of a model. Raises ModelError if it is absent or larger than signed, ServerError."""
        from nats.js.errors import DigestMismatchError, NotFoundError

        with server_errors(), path.open("xb") as file:
            limited: Any = _Limited(file, model.size)  # nats-py only writes to it
            try:
                await asyncio.wait_for(self._models.get(model.sha256, writeinto=limited), FETCH_S)
            except NotFoundError:
                raise ModelError(f"{model} is not in the store: publish it again") from None
            except DigestMismatchError:
                raise ModelError(f"{model} is damaged in the store: publish it again") from None

    async def rollout(self) -> tuple[Rollout, int] | None:
        """Return the roll-out with its revision; None if there is none."""
        return await self._get(ROLLOUT, Rollout)

    async def begin(self, rollout: Rollout, last: int) -> None:
        """Write a roll-out over revision `last`, 0: none. Raises EdgedError if it has changed since."""
        from nats.js.errors import KeyWrongLastSequenceError

        with server_errors():
            try:
                await self._bucket.update(ROLLOUT, _json(rollout), last=last)
            except KeyWrongLastSequenceError:
                raise EdgedError(
                    "the roll-out was changed just now: see `edged fleet status`, and repeat"
                ) from None

    async def report(self, report: NodeReport) -> None:
        """Write the report of a node."""
        with server_errors():
            await self._bucket.put(f"node.{report.node}", _json(report))

    async def state(self) -> FleetState:
        """Return everything in the bucket; records that are damaged are left out."""
        state = FleetState()
        with server_errors():
            watcher = await self._bucket.watchall(inactive_threshold=SEEN_S)
            async for entry in watcher:
                if entry is None:
                    break
                state.add(entry)
            await watcher.stop()  # type: ignore[no-untyped-call]
        return state

    async def _get(self, key: str, kind: type[T]) -> tuple[T, int] | None:
        from nats.js.errors import KeyNotFoundError

        with server_errors():
            try:
                entry = await self._bucket.get(key)
            except KeyNotFoundError:
                return None
        record = _parsed(kind, entry.value)
        if record is None:
            raise EdgedError(f"{BUCKET}, key {key}: expected a record of edged: is it of another version?")
        return record, entry.revision or 0


class _Limited:
    """A file that takes at most the signed number of bytes, whatever the store holds."""

    def __init__(self, file: io.BufferedWriter, most: int) -> None:
        self._file, self._left = file, most

    def write(self, content: bytes) -> None:
        """Write a chunk. Raises ModelError beyond the limit."""
        self._left -= len(content)
        if self._left < 0:
            raise ModelError("the file in the store is damaged: it is larger than signed")
        self._file.write(content)


@contextmanager
def server_errors() -> Iterator[None]:
    """Raise ServerError for what nats-py raises."""
    import nats.errors

    try:
        yield
    except (nats.errors.Error, TimeoutError) as error:
        raise ServerError(f"the fleet's server does not do this now: {error or type(error).__name__}") from None


def _json(record: Record) -> bytes:
    return record.model_dump_json().encode()


def _parsed(kind: type[T], content: bytes | None) -> T | None:
    try:
        return kind.model_validate_json(content or b"")
    except ValidationError:
        return None
