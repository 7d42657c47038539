"""All that crosses a link, and its wire form."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from edged.errors import MessageError
from edged.messages.camera import (
    CameraHello,
    CameraReport,
    Capture,
    ClockAnswer,
    ClockRequest,
    Frame,
    Grant,
    Snapshot,
)
from edged.messages.greeting import Greeting, versions_of
from edged.messages.host import HostState
from edged.messages.message import Message, places_of
from edged.messages.planning import AssignPart, Echo, Measure, Measured
from edged.messages.protocol import PROTOCOL
from edged.messages.recording import (
    Heard,
    ProfileRequest,
    Record,
    Recorder,
    RecordingBegins,
    RecordingEnds,
    TraceBatch,
    TraceRequest,
)
from edged.messages.teaching import (
    CropSample,
    HeadLoaded,
    LoadHead,
    Promoted,
    PromoteRequest,
    ShadowResult,
    TeachBegins,
    TeachEnds,
    TeachProgress,
    TeachRequest,
)
from edged.messages.worker import Features, Greet, IdleEnergy, Job, JobFailed, Scores, WorkerHello


class Stop(Message):
    """Hub to camera or worker: finish and exit. `refused` says why, where the peer does not fit."""

    kind: Literal["stop"] = "stop"
    refused: str | None = None


class ReloadRequest(Greeting):
    """To the hub: read your config file again."""

    kind: Literal["reload"] = "reload"


class Reloaded(Message):
    """From the hub: what the file has changed, or why the config before goes on (not `accepted`)."""

    kind: Literal["reloaded"] = "reloaded"
    accepted: bool
    message: str


LinkMessage = (
    CameraHello | Capture | ClockRequest | ClockAnswer | Grant | Frame | Snapshot | CameraReport
    | WorkerHello | Greet | Job | Scores | Features | JobFailed | IdleEnergy | Measure | Measured | Echo
    | AssignPart
    | Stop | HostState | ReloadRequest | Reloaded
    | ProfileRequest | TraceRequest | RecordingBegins | RecordingEnds | Heard | Record | Recorder | TraceBatch
    | TeachRequest | TeachBegins | CropSample | ShadowResult | TeachProgress | TeachEnds
    | PromoteRequest | Promoted | LoadHead | HeadLoaded
)  # fmt: skip

_LINK: TypeAdapter[LinkMessage] = TypeAdapter(Annotated[LinkMessage, Field(discriminator="kind")])


def encode(message: LinkMessage) -> bytes:
    """The JSON header of a link message."""
    return message.model_dump_json().encode()


def decode(header: bytes | memoryview) -> LinkMessage:
    """The link message in a JSON header. Raises MessageError, which says what does not fit."""
    try:
        message = _LINK.validate_json(bytes(header))
    except ValidationError as error:
        problem = f"not a message of protocol {PROTOCOL}: {places_of(error)}"
        raise MessageError(f"{problem}; {versions_of(bytes(header))}") from None
    return message.as_received() if isinstance(message, Greeting) else message


def link_schema() -> dict[str, Any]:
    """The JSON Schema of all that may cross a link."""
    return _LINK.json_schema()
