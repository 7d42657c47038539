"""All that crosses a link, and its wire form."""

from typing import Annotated, Literal

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
from edged.messages.host import HostState
from edged.messages.message import SCHEMA, Message, places_of
from edged.messages.planning import Echo, Measure, Measured, TakePart
from edged.messages.recording import (
    Heard,
    ProfileRequest,
    Record,
    Recorded,
    Recorder,
    RecordingBegins,
    RecordingEnds,
    TraceRequest,
)
from edged.messages.teaching import (
    HeadTaken,
    Promoted,
    PromoteRequest,
    Shadowed,
    TakeHead,
    Taught,
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


class ReloadRequest(Message):
    """To the hub: read your config file again."""

    kind: Literal["reload"] = "reload"
    protocol: int = SCHEMA


class Reloaded(Message):
    """From the hub: what the file has changed, or why the config before goes on (not `accepted`)."""

    kind: Literal["reloaded"] = "reloaded"
    accepted: bool
    message: str


LinkMessage = (
    CameraHello | Capture | ClockRequest | ClockAnswer | Grant | Frame | Snapshot | CameraReport
    | WorkerHello | Greet | Job | Scores | Features | JobFailed | IdleEnergy | Measure | Measured | Echo | TakePart
    | Stop | HostState | ReloadRequest | Reloaded
    | ProfileRequest | TraceRequest | RecordingBegins | RecordingEnds | Heard | Record | Recorder | Recorded
    | TeachRequest | TeachBegins | Taught | Shadowed | TeachProgress | TeachEnds
    | PromoteRequest | Promoted | TakeHead | HeadTaken
)  # fmt: skip

_LINK: TypeAdapter[LinkMessage] = TypeAdapter(Annotated[LinkMessage, Field(discriminator="kind")])


def encode(message: LinkMessage) -> bytes:
    """The JSON header of a link message."""
    return message.model_dump_json().encode()


def decode(header: bytes | memoryview) -> LinkMessage:
    """The link message in a JSON header. Raises MessageError, which says what does not fit."""
    try:
        return _LINK.validate_json(bytes(header))
    except ValidationError as error:
        raise MessageError(f"not a message of protocol {SCHEMA}: {places_of(error)}") from None
