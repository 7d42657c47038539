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
from edged.messages.planning import AssignPart, Echo, MeasureAnswer, MeasureRequest
from edged.messages.protocol import PROTOCOL
from edged.messages.recording import (
    Forwarded,
    ProfileRequest,
    RecorderHello,
    RecordingEnded,
    RecordingStarted,
    RecordRequest,
    TraceBatch,
    TraceRequest,
)
from edged.messages.teaching import (
    CropSample,
    HeadLoaded,
    LoadHead,
    PromoteAnswer,
    PromoteRequest,
    ShadowResult,
    TeachEnded,
    TeachProgress,
    TeachRequest,
    TeachStarted,
)
from edged.messages.worker import Features, HelloRequest, IdleEnergy, Job, JobFailed, Scores, WorkerHello


class Stop(Message):
    """Hub to camera or worker: finish and exit. `refused` says why, where the peer does not fit."""

    kind: Literal["stop"] = "stop"
    refused: str | None = None


class ReloadRequest(Greeting):
    """To the hub: read your config file again."""

    kind: Literal["reload_request"] = "reload_request"


class ReloadAnswer(Message):
    """From the hub: what the file has changed, or why the config before goes on (not `accepted`)."""

    kind: Literal["reload_answer"] = "reload_answer"
    accepted: bool
    message: str


LinkMessage = (
    CameraHello | Capture | ClockRequest | ClockAnswer | Grant | Frame | Snapshot | CameraReport
    | WorkerHello | HelloRequest | Job | Scores | Features | JobFailed | IdleEnergy
    | MeasureRequest | MeasureAnswer | Echo | AssignPart
    | Stop | HostState | ReloadRequest | ReloadAnswer
    | ProfileRequest | TraceRequest | RecordingStarted | RecordingEnded | Forwarded
    | RecordRequest | RecorderHello | TraceBatch
    | TeachRequest | TeachStarted | CropSample | ShadowResult | TeachProgress | TeachEnded
    | PromoteRequest | PromoteAnswer | LoadHead | HeadLoaded
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
