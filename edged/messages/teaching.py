"""Between the hub and `edged teach`, and between the hub and workers on its behalf.

A version that was taught is a head, Dense → ReLU → Dense → Softmax, on the features of the config's model: what
its last Dense reads. Each job says which head answers, so that all workers change at one job.
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
    """To the hub: let me record crops of `camera`, or let `version` answer in the shadow of what does.

    record: one at most `every_s`, so many `frames` or until the time is over. shadow: of one camera, or of all.
    """

    kind: Literal["teach_request"] = "teach_request"
    mode: Literal["record", "shadow"]
    camera: str | None = None
    version: Sha256 | None = None
    every_s: Annotated[float, Field(ge=1 / MOST_A_SECOND)] = 1 / MOST_A_SECOND
    frames: Positive | None = None
    seconds: Annotated[float, Field(gt=0, le=LONGEST_TEACH_S)]


class TeachStarted(Message):
    """The hub's answer. `refused` says why it does not begin.

    `folder`: where this daemon looks for versions. `base`: the config's model, from which all features are;
    `version`: whose answers are published, empty where they are the config's model's.
    """

    kind: Literal["teach_started"] = "teach_started"
    refused: str = ""
    node: str = ""
    folder: str = ""
    base: ModelInfo | None = None
    version: str = ""


class CropSample(Message):
    """A frame of the camera as the network got it, with what was answered; two payloads.

    Payloads: the crop, uint8 [height, width, 3] RGB, and its features, float32 [features], little-endian.
    """

    kind: Literal["crop_sample"] = "crop_sample"
    camera: str
    frame: Count
    captured_at: float
    width: Positive
    height: Positive
    features: Positive
    top: tuple[Label, ...]
    truth: str | None = None
    version: str = ""


class ShadowResult(Message):
    """What was answered to a frame, and what the version in the shadow would have."""

    kind: Literal["shadow_result"] = "shadow_result"
    camera: str
    frame: Count
    top: tuple[Label, ...]
    shadow: tuple[Label, ...]
    truth: str | None = None


class TeachProgress(Message):
    """Each second: how many frames were told of so far, and how many found no room.

    `waiting_for`: why none come, where none do.
    """

    kind: Literal["teach_progress"] = "teach_progress"
    frames: Count
    missed: Count
    waiting_for: str = ""


class TeachEnded(Message):
    """The hub's last word: why it ends."""

    kind: Literal["teach_ended"] = "teach_ended"
    reason: Literal["frames", "time", "lost", "refused"]
    frames: Count
    missed: Count
    message: str = ""


class PromoteRequest(Greeting):
    """To the hub: let `version` answer from now on; `roll_back`: what answered before it."""

    kind: Literal["promote_request"] = "promote_request"
    version: Sha256 | None = None
    roll_back: bool = False


class PromoteAnswer(Message):
    """From the hub: what answers now, or why nothing has changed (not `accepted`).

    `version` is empty for the config's model. `first_seq`: the sequence number of its first prediction.
    `took_s`: of that `paused_s` without a new job.
    """

    kind: Literal["promote_answer"] = "promote_answer"
    accepted: bool
    message: str
    version: str = ""
    first_seq: Count = 0
    took_s: float = 0.0
    paused_s: float = 0.0


class LoadHead(Message):
    """Hub to worker: be ready to answer by this head. Payload: its weights (see `model.head`)."""

    kind: Literal["load_head"] = "load_head"
    version: Sha256
    base: Sha256
    features: Positive
    hidden: Positive
    classes: Positive


class HeadLoaded(Message):
    """Worker to hub: it is ready. `refused` says why it is not."""

    kind: Literal["head_loaded"] = "head_loaded"
    version: str
    refused: str = ""
