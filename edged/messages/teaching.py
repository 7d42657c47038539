"""Messages between the hub and `edged teach`, and between the hub and workers on its behalf.

A taught version is a head, Dense → ReLU → Dense → Softmax, on the features of the config's model: the input of its
last Dense. Each job names the head that answers it, so that all workers change at the same job.
"""

from typing import Annotated, Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, Message, Positive
from edged.messages.published import Label
from edged.messages.worker import ModelInfo

LONGEST_TEACH_S = 3600.0
MOST_A_SECOND = 30  # crops

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TeachRequest(Greeting):
    """Client to hub: record crops of a camera, or run a version in shadow of the one that answers."""

    kind: Literal["teach_request"] = "teach_request"
    mode: Literal["record", "shadow"] = Field(description="What the session does")
    camera: str | None = Field(None, description="Camera; required to record; null in shadow: all cameras")
    version: Sha256 | None = Field(None, description="Version that runs in shadow")
    every_s: Annotated[float, Field(ge=1 / MOST_A_SECOND)] = Field(
        1 / MOST_A_SECOND, description="Shortest time between two frames, in seconds"
    )
    frames: Positive | None = Field(None, description="Number of frames after which the session ends")
    seconds: Annotated[float, Field(gt=0, le=LONGEST_TEACH_S)] = Field(description="Time limit of the session")


class TeachStarted(Message):
    """Hub to client: the session has started, or was refused."""

    kind: Literal["teach_started"] = "teach_started"
    refused: str = Field("", description="Why it was refused; empty if it was not")
    node: str = Field("", description="Name of the node")
    folder: str = Field("", description="Folder from which this daemon loads versions")
    base: ModelInfo | None = Field(None, description="The config's model, which computes the features")
    version: str = Field("", description="Version whose answers are published; empty: the config's model")


class CropSample(Message):
    """Hub to client: a frame as the network received it, with the published answer.

    Payloads: the crop, uint8 RGB [height, width, 3]; its features, float32 [features], little-endian.
    """

    kind: Literal["crop_sample"] = "crop_sample"
    camera: str = Field(description="Name of the camera")
    frame: Count = Field(description="Number of the frame")
    captured_at: float = Field(description="End of the capture, in seconds since 1970")
    width: Positive = Field(description="In pixels")
    height: Positive = Field(description="In pixels")
    features: Positive = Field(description="Number of features")
    top: tuple[Label, ...] = Field(description="Published answer, best first")
    truth: str | None = Field(None, description="Correct label, where the source knows it")
    version: str = Field("", description="Version that answered; empty: the config's model")


class ShadowResult(Message):
    """Hub to client: the published answer to a frame beside that of the version in shadow."""

    kind: Literal["shadow_result"] = "shadow_result"
    camera: str = Field(description="Name of the camera")
    frame: Count = Field(description="Number of the frame")
    top: tuple[Label, ...] = Field(description="Published answer, best first")
    shadow: tuple[Label, ...] = Field(description="Answer of the version in shadow, best first")
    truth: str | None = Field(None, description="Correct label, where the source knows it")


class TeachProgress(Message):
    """Hub to client, each second: progress of the session."""

    kind: Literal["teach_progress"] = "teach_progress"
    frames: Count = Field(description="Frames sent to the client so far")
    missed: Count = Field(description="Frames dropped because the client read too slowly")
    waiting_for: str = Field("", description="What the session waits for, while no frame comes")


class TeachEnded(Message):
    """Hub to client: the last message of a session."""

    kind: Literal["teach_ended"] = "teach_ended"
    reason: Literal["frames", "time", "lost", "refused"] = Field(
        description="frames, time: a limit is reached; lost: the client cannot be reached; refused: by a worker"
    )
    frames: Count = Field(description="Frames sent to the client")
    missed: Count = Field(description="Frames dropped because the client read too slowly")
    message: str = Field("", description="Explanation for people")


class PromoteRequest(Greeting):
    """Client to hub: change the version that answers."""

    kind: Literal["promote_request"] = "promote_request"
    version: Sha256 | None = Field(None, description="Version that answers from now on")
    roll_back: bool = Field(False, description="Restore the version that answered before instead")


class PromoteAnswer(Message):
    """Hub to client: which version answers now."""

    kind: Literal["promote_answer"] = "promote_answer"
    accepted: bool = Field(description="False: nothing has changed")
    message: str = Field(description="Explanation for people")
    version: str = Field("", description="Version that answers; empty: the config's model")
    first_seq: Count = Field(0, description="Sequence number of its first prediction")
    took_s: float = Field(0.0, description="Duration of the change")
    paused_s: float = Field(0.0, description="Time without a new job, within `took_s`")


class LoadHead(Message):
    """Hub to worker: load this head, to answer later jobs by it. Payload: its weights (see `model.head`)."""

    kind: Literal["load_head"] = "load_head"
    version: Sha256 = Field(description="SHA-256 of the head")
    base: Sha256 = Field(description="SHA-256 of the model that computes its features")
    features: Positive = Field(description="Number of inputs")
    hidden: Positive = Field(description="Values between the two layers")
    classes: Positive = Field(description="Number of outputs")


class HeadLoaded(Message):
    """Worker to hub: the head is ready, or was refused."""

    kind: Literal["head_loaded"] = "head_loaded"
    version: str = Field(description="SHA-256 of the head")
    refused: str = Field("", description="Why it was refused; empty if it is ready")
