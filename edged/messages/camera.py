"""Between a camera and the hub."""

from typing import Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, Message, Positive, Seconds
from edged.messages.preparation import Resize


class CameraCount(Message):
    """What one run of a camera process has counted since its start.

    `captured` = frames sent + `dropped`, exactly, at any moment that a message leaves.
    """

    captured: Count
    dropped: dict[str, Count]


class CameraHello(Greeting):
    """A camera's first message to each hub that it meets.

    `run`: new with each process, so that a hub knows one that it meets again; `count`: so far. `awaits_grants`: it
    captures only what is granted, so none of its frames grows stale.
    """

    kind: Literal["camera_hello"] = "camera_hello"
    camera: str
    run: str
    count: CameraCount
    awaits_grants: bool = False


class SnapshotSettings(Message):
    """Which snapshots a camera shall send: one at most `every_s`, of at most `width` pixels each way.

    `quality`: of the JPEG, at best; one that would have more than `max_bytes` has less of it, or is not sent.
    """

    every_s: float = Field(gt=0)
    width: Positive
    quality: int = Field(ge=1, le=100)
    max_bytes: Positive


class Capture(Message):
    """Hub to camera: start, with frames of this size (uint8, height × width × 3, RGB), made by `resize`.

    It comes again where `snapshot` changes; None: no picture shall leave but for the frames.
    """

    kind: Literal["capture"] = "capture"
    width: Positive
    height: Positive
    resize: Resize = "stretch"
    snapshot: SnapshotSettings | None = None


class ClockRequest(Message):
    """Camera on another host to hub: what time is it? `sent_ns` is of its own clock."""

    kind: Literal["clock_request"] = "clock_request"
    sent_ns: Count


class ClockAnswer(Message):
    """Hub to camera: `hub_ns` by its CLOCK_MONOTONIC, `hub_at` in seconds since 1970."""

    kind: Literal["clock_answer"] = "clock_answer"
    sent_ns: Count
    hub_ns: Count
    hub_at: float


class Grant(Message):
    """Hub to camera: so many more frames may be captured. Only a camera with `pace: fast` waits for it."""

    kind: Literal["grant"] = "grant"
    frames: Positive


class Frame(Message):
    """One image (payload: uint8, height × width × 3, RGB) with its history so far.

    `frame` counts from 0 with every captured frame, dropped ones too. `capture_s` is the time that the read
    took, and ends at `captured_ns` unless the picture was held up on its way to the camera process; `preprocess_s`
    follows it. Both times of the capture are the hub's, off by at most `clock_error_s` where the camera is on
    another host. `truth` is the label, where the source knows it.
    """

    kind: Literal["frame"] = "frame"
    camera: str
    frame: Count
    captured_at: float
    captured_ns: Count
    clock_error_s: Seconds = 0.0
    capture_s: Seconds
    preprocess_s: Seconds
    width: Positive
    height: Positive
    truth: str | None = None
    count: CameraCount


class Snapshot(Message):
    """A frame that was sent, as people would see it (payload: JPEG). Nobody waits for it, nothing counts on it."""

    kind: Literal["snapshot"] = "snapshot"
    camera: str
    frame: Count
    captured_at: float
    width: Positive
    height: Positive


class CameraReport(Message):
    """State of a camera, once a second and at each change. The last one has `ended`."""

    kind: Literal["camera_report"] = "camera_report"
    camera: str
    up: bool
    error: str | None = None
    frozen: bool = False
    reconnects: Count = 0
    ended: bool = False
    count: CameraCount
