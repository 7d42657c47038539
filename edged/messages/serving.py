"""Messages from the hub to a camera whose frames are other programs' requests: the model, and each answer."""

from typing import Annotated

from msgspec import Meta

from edged.messages.detection import Task
from edged.messages.message import Count, Message
from edged.messages.published import Box, Label


class ServedModel(Message, frozen=True):
    """Hub to camera: the model that answers, at the start and at each change."""

    name: Annotated[str, Meta(description="Name of the model")]
    sha256: Annotated[str, Meta(description="SHA-256 of its file")]
    labels: Annotated[tuple[str, ...], Meta(description="Labels by class index")]
    task: Annotated[Task, Meta(description="What it is for: only `detect` gives boxes")]
    ready: Annotated[bool, Meta(description="Workers serve: a frame that is sent now is answered")]


class FrameAnswer(Message, frozen=True, kw_only=True):
    """Hub to camera: what became of a frame. Each frame that has arrived gets one, before its prediction."""

    frame: Annotated[Count, Meta(description="Number of the frame")]
    captured_at: Annotated[
        float, Meta(description="Its `captured_at`: another process of the camera may have sent the same number")
    ]
    dropped: Annotated[str | None, Meta(description="Why it has no prediction; null: it has one")] = None
    top: Annotated[tuple[Label, ...], Meta(description="As in its prediction")] = ()
    boxes: Annotated[tuple[Box, ...] | None, Meta(description="As in its prediction")] = None
