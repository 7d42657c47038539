"""Messages between the hub and `edged teach`, and between the hub and workers on its behalf.

A taught version is a head, Dense → ReLU → Dense → Softmax, on the features of the config's model: the input of its
last Dense. Each job names the head that answers it, so that all workers change at the same job.
"""

from typing import Annotated, Literal

from msgspec import Meta

from edged.messages.message import Count, Greeting, Message, Positive
from edged.messages.published import Label
from edged.messages.worker import ModelInfo

LONGEST_TEACH_S = 3600.0
MOST_A_SECOND = 30  # crops

SessionEnd = Literal["frames", "time", "lost", "refused"]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class TeachRequest(Greeting, frozen=True, kw_only=True):
    """Client to hub: record crops of a camera, or run a version in shadow of the one that answers."""

    mode: Annotated[Literal["record", "shadow"], Meta(description="What the session does")]
    camera: Annotated[str | None, Meta(description="Camera; required to record; null in shadow: all cameras")] = (
        None
    )
    version: Annotated[Sha256 | None, Meta(description="Version that runs in shadow")] = None
    every_s: Annotated[
        float, Meta(ge=1 / MOST_A_SECOND, description="Shortest time between two frames, in seconds")
    ] = 1 / MOST_A_SECOND
    frames: Annotated[Positive | None, Meta(description="Number of frames after which the session ends")] = None
    seconds: Annotated[float, Meta(gt=0, le=LONGEST_TEACH_S, description="Time limit of the session")]


class TeachStarted(Message, frozen=True):
    """Hub to client: the session has started, or was refused."""

    refused: Annotated[str, Meta(description="Why it was refused; empty if it was not")] = ""
    node: Annotated[str, Meta(description="Name of the node")] = ""
    folder: Annotated[str, Meta(description="Folder from which this daemon loads versions")] = ""
    base: Annotated[ModelInfo | None, Meta(description="The config's model, which computes the features")] = None
    version: Annotated[str, Meta(description="Version whose answers are published; empty: the config's model")] = (
        ""
    )


class CropSample(Message, frozen=True):
    """Hub to client: a frame as the network received it, with the published answer.

    Payloads: the crop, uint8 RGB [height, width, 3]; its features, float32 [features], little-endian.
    """

    camera: Annotated[str, Meta(description="Name of the camera")]
    frame: Annotated[Count, Meta(description="Number of the frame")]
    captured_at: Annotated[float, Meta(description="End of the capture, in seconds since 1970")]
    width: Annotated[Positive, Meta(description="In pixels")]
    height: Annotated[Positive, Meta(description="In pixels")]
    features: Annotated[Positive, Meta(description="Number of features")]
    top: Annotated[tuple[Label, ...], Meta(description="Published answer, best first")]
    truth: Annotated[str | None, Meta(description="Correct label, where the source knows it")] = None
    version: Annotated[str, Meta(description="Version that answered; empty: the config's model")] = ""


class ShadowResult(Message, frozen=True):
    """Hub to client: the published answer to a frame beside that of the version in shadow."""

    camera: Annotated[str, Meta(description="Name of the camera")]
    frame: Annotated[Count, Meta(description="Number of the frame")]
    top: Annotated[tuple[Label, ...], Meta(description="Published answer, best first")]
    shadow: Annotated[tuple[Label, ...], Meta(description="Answer of the version in shadow, best first")]
    truth: Annotated[str | None, Meta(description="Correct label, where the source knows it")] = None


class TeachProgress(Message, frozen=True):
    """Hub to client, each second: progress of the session."""

    frames: Annotated[Count, Meta(description="Frames sent to the client so far")]
    missed: Annotated[Count, Meta(description="Frames dropped because the client read too slowly")]
    waiting_for: Annotated[str, Meta(description="What the session waits for, while no frame comes")] = ""


class TeachEnded(Message, frozen=True):
    """Hub to client: the last message of a session."""

    reason: Annotated[
        SessionEnd,
        Meta(
            description="frames, time: a limit is reached; lost: the client is unreachable; refused: by a worker"
        ),
    ]
    frames: Annotated[Count, Meta(description="Frames sent to the client")]
    missed: Annotated[Count, Meta(description="Frames dropped because the client read too slowly")]
    message: Annotated[str, Meta(description="Explanation for people")] = ""


class PromoteRequest(Greeting, frozen=True):
    """Client to hub: change the version that answers."""

    version: Annotated[Sha256 | None, Meta(description="Version that answers from now on")] = None
    roll_back: Annotated[bool, Meta(description="Restore the version that answered before instead")] = False


class PromoteAnswer(Message, frozen=True):
    """Hub to client: which version answers now."""

    accepted: Annotated[bool, Meta(description="False: nothing has changed")]
    message: Annotated[str, Meta(description="Explanation for people")]
    version: Annotated[str, Meta(description="Version that answers; empty: the config's model")] = ""
    first_seq: Annotated[Count, Meta(description="Sequence number of its first prediction")] = 0
    took_s: Annotated[float, Meta(description="Duration of the change")] = 0.0
    paused_s: Annotated[float, Meta(description="Time without a new job, within `took_s`")] = 0.0


class LoadHead(Message, frozen=True):
    """Hub to worker: load this head, to answer later jobs by it. Payload: its weights (see `model.head`)."""

    version: Annotated[Sha256, Meta(description="SHA-256 of the head")]
    base: Annotated[Sha256, Meta(description="SHA-256 of the model that computes its features")]
    features: Annotated[Positive, Meta(description="Number of inputs")]
    hidden: Annotated[Positive, Meta(description="Values between the two layers")]
    classes: Annotated[Positive, Meta(description="Number of outputs")]


class HeadLoaded(Message, frozen=True):
    """Worker to hub: the head is ready, or was refused."""

    version: Annotated[str, Meta(description="SHA-256 of the head")]
    refused: Annotated[str, Meta(description="Why it was refused; empty if it is ready")] = ""
