"""What the fleet shares in its key-value bucket: models, the roll-out and its stages, a report of each node."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from edged.config import NAME
from edged.errors import ConfigError
from edged.fleet.gate import Comparison
from edged.model.head_versions import Sha256

Name = Annotated[str, Field(pattern=NAME)]
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]*$", max_length=128)]
Phase = Literal[
    "idle",
    "waiting",
    "fetching",
    "trial",
    "ready",
    "promoting",
    "watching",
    "promoted",
    "rolling_back",
    "rolled_back",
    "refused",
    "cancelled",
]
DONE: frozenset[Phase] = frozenset({"promoted", "rolled_back", "refused", "cancelled"})
FAILED: frozenset[Phase] = frozenset({"rolling_back", "rolled_back", "refused"})


class Record(BaseModel):
    """The base of all records; unknown keys, of newer versions, are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class SignedModel(Record):
    """A model in the object store, with its signature. `file`: the name under which boards keep it."""

    name: Name
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}\.onnx(\.zst)?$")]
    sha256: Sha256
    size: Annotated[int, Field(ge=1)]
    signer: Hex = ""
    signature: Hex = ""

    @property
    def signed(self) -> bytes:
        """Return the bytes that the signature covers."""
        return f"edged model 1\n{self.name}\n{self.file}\n{self.sha256}\n{self.size}\n".encode()

    def __str__(self) -> str:
        return f"{self.name} ({self.sha256[:12]})"


class RolloutStage(Record):
    """Nodes that take the model together. `share`: of all nodes, those of the stages before included."""

    share: Annotated[float, Field(gt=0, le=1)]
    nodes: tuple[str, ...]


class Rollout(Record):
    """An order for the whole fleet; `id` is new for each."""

    id: str
    model: SignedModel
    gate: str
    stages: Annotated[tuple[RolloutStage, ...], Field(min_length=1)]
    state: Literal["running", "paused", "rolled_back"] = "running"

    def orders_same(self, other: "Rollout") -> bool:
        """Return whether both are one order: whatever they say but for the state, which the operator changes."""
        return self.model_copy(update={"state": other.state}) == other


class NodeReport(Record):
    """A node as it describes itself. `rollout`: the one that `phase` is of."""

    node: str
    phase: Phase = "idle"
    message: str = ""
    rollout: str = ""
    model: str = Field("", description="Name of the model that answers")
    sha256: str = Field("", description="SHA-256 of the model that answers")
    first_seq: int | None = Field(None, description="Sequence number of the first prediction of the model")
    trial: Comparison | None = Field(None, description="The model in shadow, beside the one that answered")
    in_use: Comparison | None = Field(None, description="Predictions after the promotion, beside those before it")
    per_second: float | None = Field(None, description="Predictions a second")
    p99_s: float | None = Field(None, description="99th percentile of the forward pass")
    joules: float | None = Field(None, description="Joules of a prediction")


def stages_of(rollout: str, nodes: Iterable[str], shares: Sequence[float]) -> tuple[RolloutStage, ...]:
    """Divide `nodes` by cumulative shares, in an order that depends on both names alone. Each stage has a node.

    Raises ConfigError for shares that do not grow, or without nodes.
    """
    ordered = sorted(set(nodes), key=lambda node: sha256(f"{rollout}/{node}".encode()).digest())
    if not ordered:
        raise ConfigError("no node has reported to this fleet yet: start `edged fleet agent` on a board first")
    if any(after <= before for before, after in pairwise(shares)):
        raise ConfigError("each --then must be more than the share before it")
    stages, begin = [], 0
    for share in shares:
        end = max(begin + 1, round(share * len(ordered)))
        if chosen := tuple(ordered[begin:end]):
            stages.append(RolloutStage(share=share, nodes=chosen))
        begin = end
    return tuple(stages)


def stage_index(rollout: Rollout, node: str) -> int | None:
    """Return the stage of a node; one that is new belongs to the last, if that is for all. None: to no stage."""
    for index, stage in enumerate(rollout.stages):
        if node in stage.nodes:
            return index
    return len(rollout.stages) - 1 if rollout.stages[-1].share >= 1 else None


def why_wait(rollout: Rollout, node: str, reports: Mapping[str, NodeReport], silent: Collection[str]) -> str:
    """Return why a node may not begin yet; empty if it may.

    It may once every node of the stages before has finished, but for silent ones, none has failed, and at least
    one has promoted the model.
    """
    index = stage_index(rollout, node)
    if index is None:
        return "this node is in no stage of the roll-out"
    before = [name for stage in rollout.stages[:index] for name in stage.nodes]
    phases = {
        name: report.phase if (report := reports.get(name)) and report.rollout == rollout.id else "waiting"
        for name in before
    }
    if failed := [name for name in before if phases[name] in FAILED]:
        return f"the roll-out has stopped: {failed[0]} has failed"
    if late := [name for name in before if phases[name] not in DONE and name not in silent]:
        return f"waits for {', '.join(late[:3])}{' …' if len(late) > 3 else ''}"
    if before and "promoted" not in phases.values():
        return "waits for the stage before: all of its nodes are silent"
    return ""
