"""Messages between a camera and the hub."""

from typing import Annotated

from msgspec import Meta

from edged.messages.detection import Corners, InFrame
from edged.messages.message import IGNORABLE, Content, Count, Greeting, Message, Positive, Seconds
from edged.messages.preparation import Resize

LONGEST_WAIT_S = 3600.0  # for a picture
USUAL_WAIT_S = 2.0


class CameraCount(Content, frozen=True):
    """Frame counters of one run of a camera process.

    `captured` equals the frames sent plus the sum of `dropped` whenever a message leaves.
    """

    captured: Annotated[Count, Meta(description="Frames captured since the process started")]
    dropped: Annotated[dict[str, Count], Meta(description="Frames that the camera dropped, by reason")]


class CameraHello(Greeting, frozen=True):
    """Camera to hub: the first message to each hub process that it meets."""

    camera: Annotated[str, Meta(description="Name in the config")]
    run: Annotated[str, Meta(description="Identifier of the process; the hub recognises one that it meets again")]
    count: Annotated[CameraCount, Meta(description="Counters so far")]
    awaits_grants: Annotated[
        bool, Meta(description="Captures only granted frames (`pace: fast`), so no frame grows stale")
    ] = False
    awaits_answers: Annotated[
        bool,
        Meta(description="Its frames are requests: it gets the model and each answer, and frames grow stale"),
    ] = False
    can_be_held: Annotated[
        bool, Meta(description="Runs on the hub's host, and drops pictures unprepared while the hub requests it")
    ] = False


class SnapshotSettings(Content, frozen=True):
    """Rate, size and quality of the snapshots that a camera sends."""

    every_s: Annotated[float, Meta(gt=0, description="Shortest time between two snapshots, in seconds")]
    width: Annotated[Positive, Meta(description="Largest width and height, in pixels")]
    quality: Annotated[int, Meta(ge=1, le=100, description="Highest JPEG quality")]
    max_bytes: Annotated[
        Positive, Meta(description="Largest JPEG; a larger one is encoded at lower quality, or not sent at all")
    ]


class Capture(Message, frozen=True):
    """Hub to camera: start, and send frames of this size (uint8 RGB, height × width × 3).

    The hub sends it again when `snapshot` changes.
    """

    width: Annotated[Positive, Meta(description="Frame width, in pixels")]
    height: Annotated[Positive, Meta(description="Frame height, in pixels")]
    resize: Annotated[Resize, Meta(description="How a picture takes that size")] = "stretch"
    snapshot: Annotated[SnapshotSettings | None, Meta(description="Snapshots to send; null: none")] = None


class ClockRequest(Message, frozen=True):
    """Camera or worker on another host to hub: return your time."""

    sent_ns: Annotated[Count, Meta(description="CLOCK_MONOTONIC of the sender")]


class ClockAnswer(Message, frozen=True):
    """Hub to camera or worker: the hub's time."""

    sent_ns: Annotated[Count, Meta(description="Copied from the request")]
    hub_ns: Annotated[Count, Meta(description="CLOCK_MONOTONIC of the hub")]
    hub_at: Annotated[float, Meta(description="Wall clock of the hub, in seconds since 1970")]


class Grant(Message, frozen=True):
    """Hub to camera: capture more frames. Only a camera with `pace: fast` waits for grants."""

    frames: Annotated[Positive, Meta(description="Number of additional frames")]


class Hold(Message, frozen=True):
    """Hub to a camera on its host: drop pictures unprepared for a while, since no worker will take them."""

    until_ns: Annotated[Count, Meta(description="By the monotonic clock of the host; 0: prepare all of them")]


class Frame(Message, frozen=True, kw_only=True):
    """Camera to hub: one image (payload: uint8 RGB, height × width × 3, C order) with its history so far."""

    camera: Annotated[str, Meta(description="Name in the config")]
    frame: Annotated[Count, Meta(description="Number of the captured frame, from 0; dropped frames count too")]
    captured_at: Annotated[
        float, Meta(description="End of the capture, in seconds since 1970, by the hub's clock")
    ]
    captured_ns: Annotated[
        Count,
        Meta(description="End of the capture by the hub's CLOCK_MONOTONIC, before any delay of the picture"),
    ]
    clock_error_s: Annotated[
        Seconds, Meta(description="Largest error of both capture times; 0 where the camera runs on the hub's host")
    ] = 0.0
    capture_s: Annotated[Seconds, Meta(description="Duration of the read")]
    preprocess_s: Annotated[
        Seconds, Meta(description="Time from `captured_ns` until the frame was ready to be sent")
    ]
    width: Annotated[Positive, Meta(description="In pixels")]
    height: Annotated[Positive, Meta(description="In pixels")]
    region: Annotated[Corners | None, Meta(description="Of the camera's picture; null: the whole picture")] = None
    place: Annotated[InFrame | None, Meta(description="Of this region in the frame; null: it fills it")] = None
    truth: Annotated[str | None, Meta(description="Correct label, where the source knows it")] = None
    count: Annotated[CameraCount, Meta(description="Counters including this frame")]


class Snapshot(Message, frozen=True):
    """Camera to hub: a sent frame as people see it (payload: JPEG). It may be dropped at any point."""

    camera: Annotated[str, Meta(description="Name in the config")]
    frame: Annotated[Count, Meta(description="Number of the frame")]
    captured_at: Annotated[float, Meta(description="End of the capture, in seconds since 1970")]
    width: Annotated[Positive, Meta(description="In pixels")]
    height: Annotated[Positive, Meta(description="In pixels")]
    region: Annotated[Corners | None, Meta(description="Of the camera's picture; null: the whole picture")] = None


class RequestCount(Content, frozen=True):
    """What became of requests of other programs, in one run of a camera process that serves them."""

    late: Annotated[Count, Meta(description="Requests that were not answered in time")]
    refused: Annotated[dict[str, Count], Meta(description="Requests that were refused, by reason")]


class CameraReport(Message, frozen=True, kw_only=True):
    """Camera to hub: its state, once a second and at each change."""

    camera: Annotated[str, Meta(description="Name in the config")]
    up: Annotated[bool, Meta(description="The source delivers pictures")]
    error: Annotated[str | None, Meta(description="Why the source is down")] = None
    frozen: Annotated[bool, Meta(description="The source delivers the same picture again and again")] = False
    still: Annotated[
        bool,
        Meta(
            extra_json_schema=IGNORABLE,
            description="Frozen since nothing in the scene has changed for `still_s`; the pictures differ",
        ),
    ] = False
    reconnects: Annotated[Count, Meta(description="Reconnections to the source since the process started")] = 0
    ended: Annotated[bool, Meta(description="The source is finished: this is the last report")] = False
    longest_wait_s: Annotated[
        float, Meta(ge=0, le=LONGEST_WAIT_S, description="Longest time that it waits for a picture, in seconds")
    ] = USUAL_WAIT_S
    requests: Annotated[
        RequestCount | None, Meta(description="Counters of requests so far; null: it serves none")
    ] = None
    count: Annotated[CameraCount, Meta(description="Counters so far")]
