"""All messages that cross a link, and their encoding."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from edged.errors import MessageError
from edged.messages.camera import (
    CameraHello,
    CameraReport,
    Capture,
    ClockAnswer,
    ClockRequest,
    Frame,
    Grant,
    Hold,
    Snapshot,
)
from edged.messages.message import INVALID_JSON, Greeting, Message, versions_of
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
from edged.messages.serving import FrameAnswer, ServedModel
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
from edged.messages.worker import (
    AssignPart,
    Echo,
    Features,
    HelloRequest,
    HostState,
    IdleEnergy,
    Job,
    JobFailed,
    MeasureAnswer,
    MeasureRequest,
    OneLaunches,
    Scores,
    WorkerHello,
)


class Stop(Message, frozen=True):
    """Hub to camera or worker: finish and exit."""

    refused: Annotated[str | None, Meta(description="Why the peer is refused; null: it is not")] = None


class ReloadRequest(Greeting, frozen=True):
    """Client to hub: read your config file again."""


class ReloadAnswer(Message, frozen=True):
    """Hub to client: the result of a reload."""

    accepted: Annotated[bool, Meta(description="False: the config before stays in use")]
    message: Annotated[str, Meta(description="What has changed, or what is wrong, for people")]


LinkMessage = (
    CameraHello | Capture | ClockRequest | ClockAnswer | Grant | Hold | Frame | Snapshot | CameraReport
    | ServedModel | FrameAnswer
    | WorkerHello | HelloRequest | Job | Scores | Features | JobFailed | IdleEnergy | OneLaunches
    | MeasureRequest | MeasureAnswer | Echo | AssignPart
    | Stop | HostState | ReloadRequest | ReloadAnswer
    | ProfileRequest | TraceRequest | RecordingStarted | RecordingEnded | Forwarded
    | RecordRequest | RecorderHello | TraceBatch
    | TeachRequest | TeachStarted | CropSample | ShadowResult | TeachProgress | TeachEnded
    | PromoteRequest | PromoteAnswer | LoadHead | HeadLoaded
)  # fmt: skip

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[LinkMessage] = msgspec.json.Decoder(LinkMessage)


def encode(message: LinkMessage) -> bytes:
    """Encode a link message as its JSON header."""
    return _encoder.encode(message)


def decode(header: bytes | memoryview) -> LinkMessage:
    """Decode the link message in a JSON header. Raises MessageError, which names an invalid field."""
    try:
        message = _decoder.decode(header)
    except INVALID_JSON as error:
        problem = f"not a message of protocol {PROTOCOL}: {error}"
        raise MessageError(f"{problem}; {versions_of(bytes(header))}") from None
    return message.as_received(header) if isinstance(message, Greeting) else message


def link_schema() -> dict[str, Any]:
    """Return the JSON Schema of all link messages."""
    return msgspec.json.schema(LinkMessage)
