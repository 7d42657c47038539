"""All messages that cross a link, and their encoding."""

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
from edged.messages.message import Message, field_errors
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
    """Hub to camera or worker: finish and exit."""

    kind: Literal["stop"] = "stop"
    refused: str | None = Field(None, description="Why the peer is refused; null: it is not")


class ReloadRequest(Greeting):
    """Client to hub: read your config file again."""

    kind: Literal["reload_request"] = "reload_request"


class ReloadAnswer(Message):
    """Hub to client: the result of a reload."""

    kind: Literal["reload_answer"] = "reload_answer"
    accepted: bool = Field(description="False: the config before stays in use")
    message: str = Field(description="What has changed, or what is wrong, for people")


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
    """Encode a link message as its JSON header."""
    return message.model_dump_json().encode()


def decode(header: bytes | memoryview) -> LinkMessage:
    """Decode the link message in a JSON header. Raises MessageError, which names the invalid fields."""
    try:
        message = _LINK.validate_json(bytes(header))
    except ValidationError as error:
        problem = f"not a message of protocol {PROTOCOL}: {field_errors(error)}"
        raise MessageError(f"{problem}; {versions_of(bytes(header))}") from None
    return message.as_received() if isinstance(message, Greeting) else message


def link_schema() -> dict[str, Any]:
    """Return the JSON Schema of all link messages."""
    return _LINK.json_schema()
