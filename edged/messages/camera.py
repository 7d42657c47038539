"""Messages between a camera and the hub."""

from typing import Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, Message, Positive, Seconds
from edged.messages.preparation import Resize


class CameraCount(Message):
    """Frame counters of one run of a camera process.

    `captured` equals the frames sent plus the sum of `dropped` whenever a message leaves.
    """

    captured: Count = Field(description="Frames captured since the process started")
    dropped: dict[str, Count] = Field(description="Frames that the camera dropped, by reason")


class CameraHello(Greeting):
    """Camera to hub: the first message to each hub process that it meets."""

    kind: Literal["camera_hello"] = "camera_hello"
    camera: str = Field(description="Name in the config")
    run: str = Field(description="Identifier of the process; the hub recognises one that it meets again")
    count: CameraCount = Field(description="Counters so far")
    awaits_grants: bool = Field(
        False, description="Captures only granted frames (`pace: fast`), so no frame grows stale"
    )


class SnapshotSettings(Message):
    """Rate, size and quality of the snapshots that a camera sends."""

    every_s: float = Field(gt=0, description="Shortest time between two snapshots, in seconds")
    width: Positive = Field(description="Largest width and height, in pixels")
    quality: int = Field(ge=1, le=100, description="Highest JPEG quality")
    max_bytes: Positive = Field(
        description="Largest JPEG; a larger one is encoded at lower quality, or not sent at all"
    )


class Capture(Message):
    """Hub to camera: start, and send frames of this size (uint8 RGB, height × width × 3).

    The hub sends it again when `snapshot` changes.
    """

    kind: Literal["capture"] = "capture"
    width: Positive = Field(description="Frame width, in pixels")
    height: Positive = Field(description="Frame height, in pixels")
    resize: Resize = Field("stretch", description="How a picture takes that size")
    snapshot: SnapshotSettings | None = Field(None, description="Snapshots to send; null: none")


class ClockRequest(Message):
    """Camera or worker on another host to hub: return your time."""

    kind: Literal["clock_request"] = "clock_request"
    sent_ns: Count = Field(description="CLOCK_MONOTONIC of the sender")


class ClockAnswer(Message):
    """Hub to camera or worker: the hub's time."""

    kind: Literal["clock_answer"] = "clock_answer"
    sent_ns: Count = Field(description="Copied from the request")
    hub_ns: Count = Field(description="CLOCK_MONOTONIC of the hub")
    hub_at: float = Field(description="Wall clock of the hub, in seconds since 1970")


class Grant(Message):
    """Hub to camera: capture more frames. Only a camera with `pace: fast` waits for grants."""

    kind: Literal["grant"] = "grant"
    frames: Positive = Field(description="Number of additional frames")


class Frame(Message):
    """Camera to hub: one image (payload: uint8 RGB, height × width × 3, C order) with its history so far."""

    kind: Literal["frame"] = "frame"
    camera: str = Field(description="Name in the config")
    frame: Count = Field(description="Number of the captured frame, from 0; dropped frames count too")
    captured_at: float = Field(description="End of the capture, in seconds since 1970, by the hub's clock")
    captured_ns: Count = Field(
        description="End of the capture by the hub's CLOCK_MONOTONIC, before the picture was held up on its way"
    )
    clock_error_s: Seconds = Field(
        0.0, description="Largest error of both capture times; 0 where the camera runs on the hub's host"
    )
    capture_s: Seconds = Field(description="Duration of the read")
    preprocess_s: Seconds = Field(description="Time from `captured_ns` until the frame was ready to be sent")
    width: Positive = Field(description="In pixels")
    height: Positive = Field(description="In pixels")
    truth: str | None = Field(None, description="Correct label, where the source knows it")
    count: CameraCount = Field(description="Counters including this frame")


class Snapshot(Message):
    """Camera to hub: a sent frame as people see it (payload: JPEG). It may be dropped at any point."""

    kind: Literal["snapshot"] = "snapshot"
    camera: str = Field(description="Name in the config")
    frame: Count = Field(description="Number of the frame")
    captured_at: float = Field(description="End of the capture, in seconds since 1970")
    width: Positive = Field(description="In pixels")
    height: Positive = Field(description="In pixels")


class CameraReport(Message):
    """Camera to hub: its state, once a second and at each change."""

    kind: Literal["camera_report"] = "camera_report"
    camera: str = Field(description="Name in the config")
    up: bool = Field(description="The source delivers pictures")
    error: str | None = Field(None, description="Why the source is down")
    frozen: bool = Field(False, description="The source delivers the same picture again and again")
    reconnects: Count = Field(0, description="Reconnections to the source since the process started")
    ended: bool = Field(False, description="The source is finished: this is the last report")
    count: CameraCount = Field(description="Counters so far")
