"""What the fleet shares in its key-value bucket: models, the roll-out, and a report of each node."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from edged.config import NAME
from edged.fleet.figures import Comparison
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
