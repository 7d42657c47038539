"""The common base of config sections, and the small ones: energy, journal, model, freshness, snapshot."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from edged.config.paths import ConfigPath, ModelPath
from edged.messages.detection import Across, DecodeWanted, Task
from edged.messages.preparation import Color, Preprocess, Resize
from edged.messages.scores import ScoresWanted
from edged.transport.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port, is_ipc, is_local

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
PLAIN_NAME = r"^[A-Za-z0-9_-]{1,64}$"  # where others take no dots


def _with_port(address: str) -> str:
    """Check the port of an address. Raises ValueError."""
    if not is_ipc(address) and not 1 <= host_and_port(address)[1] <= 65535:
        raise ValueError("the port must be 1 to 65535")
    return address


def _one_or_three(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Accept one or three numbers. Raises ValueError."""
    if len(numbers) not in {1, 3}:
        raise ValueError(f"expected three numbers, or one for a gray network, found {len(numbers)}")
    return numbers


def _of_a_user(path: Path, info: ValidationInfo) -> Path:
    """Accept the file of a password only beside `user`. Raises ValueError."""
    if not info.data.get("user"):
        raise ValueError("requires user")
    return path


LIVE = "takes effect at a reload"  # marks keys, with all below them; others are held for the life of a hub

Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Share = Annotated[float, Field(ge=0, le=1)]
Pixels = Annotated[int, Field(ge=1, le=16384)]
Positive = Annotated[float, Field(gt=0)]
ByChannel = Annotated[tuple[float, ...], AfterValidator(_one_or_three)]
PositiveByChannel = Annotated[tuple[Positive, ...], AfterValidator(_one_or_three)]
ZmqAddress = Annotated[str, Field(pattern=ZMQ_ADDRESS), AfterValidator(_with_port)]
PasswordFile = Annotated[ConfigPath, AfterValidator(_of_a_user)]
HttpAddress = Annotated[str, Field(pattern=HOST_AND_PORT), AfterValidator(_with_port)]


class Section(BaseModel):
    """A part of the file: unknown keys are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


def local_or_protected(address: str, info: ValidationInfo) -> str:
    """Return an address of this host, or one that may be open to others. Raises ValueError."""
    if is_local(address) or info.data.get("insecure") or is_encrypted(info):
        return address
    raise ValueError(
        "is open to other hosts, unencrypted: use 127.0.0.1, or add security: with keys "
        "(`edged keys new`), or insecure: true beside it"
    )


def is_encrypted(info: ValidationInfo) -> bool:
    """Return whether the file has a section `security`, as the reader, which knows the whole file, passes in."""
    return bool(info.context and info.context.get("security"))


class EnergyConfig(Section):
    """Power rails to read, and how; without rails energy is estimated if `watts_per_core` is set."""

    rails: Literal["auto", "none"] | tuple[Text, ...] = Field(
        "auto", description="auto: all rails found; none; or names that `edged devices` lists"
    )
    sample_hz: float = Field(
        10.0,
        ge=1,
        le=1000,
        description="Sampling rate of a rail without an energy counter. If five readings in a row fail, over at "
        "least half a second, its joules are unknown",
    )
    idle_s: float = Field(
        0.0,
        ge=0,
        le=600,
        description="Duration of an idle measurement at a worker's first start after the machine's. The result, "
        "`edged_idle_watts`, is subtracted from the joules of predictions; 0: no measurement",
    )
    watts_per_core: Positive | None = Field(
        None,
        description="Without readable rails: joules are the worker's CPU time multiplied by this, and marked "
        "`estimated`",
    )
    sysfs: ConfigPath = Field(Path("/sys"), description="Path of the host's /sys in a container, if it differs")


class JournalConfig(Section):
    """Published predictions, stored for subscribers that missed them."""

    path: ConfigPath | None = Field(None, description="SQLite file; default: the state directory, by node name")
    max_predictions: Annotated[int, LIVE] = Field(
        100_000, ge=1_000, description="Above this the oldest are deleted"
    )
    max_megabytes: Annotated[int, LIVE] = Field(
        256,
        ge=8,
        le=1_000_000,
        description="Largest size of its files; above it the oldest predictions are deleted",
    )
    max_age_days: Annotated[Positive, LIVE] = Field(
        30.0,
        description="Largest age, in days of the machine's uptime, since a wall clock may jump; older ones are "
        "deleted",
    )
    max_wait_s: Annotated[float, LIVE] = Field(
        0.1,
        ge=0.001,
        le=10,
        description="Longest time that a prediction waits for the disk before it is published with "
        "`journaled: false`. Must be less than `freshness.max_age_s`; at most four fifths of that are used",
    )
    sync_s: Annotated[float, LIVE] = Field(
        5.0, ge=0.1, le=3600, description="Seconds of predictions that a power failure may lose"
    )


PREPROCESS = (
    "Sets resize, color, scale, mean and std by one name; keys beside it take precedence. imagenet: as "
    "torchvision's networks require it; tf: −1 … 1; caffe: BGR less its mean; unit: 0 … 1; raw: 0 … 255; "
    "yolox: corner, BGR, 0 … 255; yolo: letterbox, 0 … 1; ssd: stretch, −1 … 1"
)
RESIZE = (
    "How a picture takes the input's shape. stretch: all of it, without keeping proportions; crop: its largest "
    "centred part; pad: all of it, with black beside it; center-crop: its shorter side to 256/224 of the "
    "input's, then the centre; letterbox: all of it, centred, with gray beside it; corner: likewise, at the upper "
    "left"
)
DECODE = (
    "Layout of a detector's outputs: yolox, yolo (version 5 and later), yolov5 or yolov7 (boxes beside anchors) "
    "and distances (YOLOv6 and later) as Rockchip's tools export them, ssd, nanodet, picodet, ultraface, yunet, "
    "scrfd, fastestdet, detr, rtdetr (and D-FINE, RF-DETR), centres (RT-DETR of Ultralytics), or boxes: scores "
    "and boxes as they are; auto: recognised by their shapes. Without it as the file says, else auto"
)
SCORES = (
    "What the network's outputs are: probabilities; logits, which get a softmax (a single one a sigmoid); "
    "log_probabilities; or independent: any number of labels may be there, and each is published from its "
    "threshold on; auto: as its last operators show. Without it as the file says, else auto"
)


class BoxesConfig(Section):
    """Which of a detector's boxes are reported."""

    overlap: Share | None = Field(
        None,
        description="Intersection over union above which the box with the lower score is left out. Without it as "
        "the file says, else 0.45, and 1 with decode: detr, rtdetr and centres",
    )
    across: Across = Field("label", description="Boxes that are compared: those of one label, or all")
    most: int = Field(100, ge=1, le=1000, description="Most boxes of a picture, the best ones")
    smallest: Share = Field(0.0, description="Least width and height, as shares of the picture's")
    track: bool = Field(
        False, description="Number the boxes: an object keeps its number over the frames of a camera"
    )


class ModelConfig(Section):
    """The network, and its input, as far as its file does not describe it (see `model.package`)."""

    name: str | None = Field(
        None,
        description="A bundled model (digits); or, with random weights and for timing only, resnet18 … resnet152, "
        "alexnet, vgg11 … vgg19, googlenet, mobilenetv2 and others (docs/reference/models.md)",
    )
    path: ModelPath | None = Field(None, description="An ONNX file")
    labels: ConfigPath | None = Field(None, description="Text file with one label a line, or JSON")
    size: Pixels | tuple[Pixels, Pixels] | None = Field(None, description="Input size, or width and height")
    preprocess: Preprocess | None = Field(None, description=PREPROCESS)
    resize: Resize | None = Field(None, description=RESIZE)
    color: Color | None = Field(None, description="Channel order of the model's input, or gray: one channel")
    scale: Positive | None = Field(None, description="Input = (pixel × scale − mean) ÷ std; pixel is 0 to 255")
    mean: ByChannel | None = Field(
        None, description="By channel, in the model's order; one number where it is gray"
    )
    std: PositiveByChannel | None = Field(None, description="By channel, in the model's order; above 0")
    scores: ScoresWanted | None = Field(None, description=SCORES)
    threshold: Share | None = Field(
        None,
        description="Score from which a label is there: of independent scores (without it 0.5), of boxes (0.4)",
    )
    thresholds: dict[Text, Share] = Field({}, description="Thresholds of single labels, by label")
    task: Task | None = Field(
        None,
        description="classify: scores of classes; detect: boxes. Without it as the file or its outputs say",
    )
    decode: DecodeWanted | None = Field(None, description=DECODE)
    boxes: BoxesConfig = Field(BoxesConfig(), description="Which boxes of a detector are reported")

    strict: bool = Field(
        False, description="Refuse a network with operators that no kernel computes, rather than use the host"
    )

    @property
    def known_task(self) -> Task | None:
        """Return what the network is for, as far as it is known before its file is read."""
        if self.task or not self.name:
            return self.task or ("detect" if self.decode not in {None, "auto"} else None)
        return "classify"

    @field_validator("path")
    @classmethod
    def _one_source(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        if path and info.data.get("name"):
            raise ValueError("give name or path, not both")
        return path


class FreshnessConfig(Section):
    """Limits on the age of frames, and on their number that may wait."""

    keep: int = Field(
        1, ge=1, le=64, description="Frames of each camera that may wait; newer ones replace older ones"
    )
    max_age_s: Positive = Field(
        0.5, description="Largest age of a frame at its prediction and its publication; older ones are dropped"
    )
    deadline_s: Positive = Field(
        1.5,
        description="Time limit of a job (at least five times the warm-up run); a worker that exceeds it is "
        "killed and restarted",
    )


class RecoveryConfig(Section):
    """Limits on restarts of a worker, before its device is given up."""

    losses: int = Field(
        3,
        ge=1,
        le=100,
        description="Number of losses of a worker within `within_s` after which the next one serves",
    )
    within_s: Positive = Field(60.0, description="Period over which losses are counted")
    retry_device_s: Positive = Field(
        60.0, description="Time after which a device that was given up is tried again; doubled at each failure"
    )
    start_s: Positive = Field(
        300.0, description="Time limit of a worker's start; then it is killed, and its device is given up"
    )


class LogConfig(Section):
    """Log lines on standard error, of all processes that this host starts."""

    format: Literal["text", "json"] = Field(
        "text", description="text, or one JSON object a line: time, level, logger, message, pid, traceback"
    )


class SnapshotConfig(Section):
    """Small JPEG pictures of frames, for `edged view`. All subscribers can see them."""

    every_s: float = Field(0.5, ge=0.1, le=3600, description="Shortest time between two snapshots, in seconds")
    width: int = Field(
        320, ge=32, le=1920, description="Largest width and height, in pixels; pictures are never enlarged"
    )
    quality: int = Field(70, ge=10, le=95, description="Highest JPEG quality")
    max_kilobytes: int = Field(
        32,
        ge=2,
        le=512,
        description="Largest JPEG; the quality is reduced to fit, and one that still does not fit is not sent",
    )
