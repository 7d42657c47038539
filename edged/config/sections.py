"""The common base of config sections, and the small ones: energy, journal, model, freshness, snapshot."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from edged.messages.preparation import Color, Preprocess, Resize
from edged.transport.address import HOST_AND_PORT, ZMQ_ADDRESS, host_and_port, is_ipc, is_local

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"


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


Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Share = Annotated[float, Field(ge=0, le=1)]
Pixels = Annotated[int, Field(ge=1, le=16384)]
Positive = Annotated[float, Field(gt=0)]
ByChannel = Annotated[tuple[float, ...], AfterValidator(_one_or_three)]
PositiveByChannel = Annotated[tuple[Positive, ...], AfterValidator(_one_or_three)]
ZmqAddress = Annotated[str, Field(pattern=ZMQ_ADDRESS), AfterValidator(_with_port)]
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
    """Return whether the file has a section `security`, as the reader says, which has seen all of it."""
    return bool(info.context and info.context.get("security"))


class Energy(Section):
    """Which power supplies to read, and how; what is not measured is estimated where this says how, else none."""

    rails: Literal["auto", "none"] | tuple[Text, ...] = Field(
        "auto", description="auto: all that are found; none; or names that `edged devices` lists"
    )
    sample_hz: float = Field(
        10.0,
        ge=1,
        le=1000,
        description="How often the power of a rail that has no counter of energy is read, to add it up; where "
        "five readings are missing, and half a second is, its joules are not known",
    )
    idle_s: float = Field(
        0.0,
        ge=0,
        le=600,
        description="How long each worker waits at its first start since the machine's, to measure what its rails "
        "draw anyway: `edged_idle_watts`, which is taken off the joules of predictions; 0: nothing is",
    )
    watts_per_core: Positive | None = Field(
        None,
        description="Where no rail can be read: joules are the worker's processor time times this, and are marked "
        "`estimated`",
    )
    sysfs: Path = Field(Path("/sys"), description="Where a container has its host's /sys, if elsewhere")


class Journal(Section):
    """What was published, kept for subscribers that missed it."""

    path: Path | None = Field(None, description="SQLite file; default: the state directory, by node name")
    max_predictions: int = Field(100_000, ge=1_000, description="The oldest go first")
    max_megabytes: int = Field(256, ge=8, le=1_000_000, description="That its files may take; the oldest go first")
    max_age_days: Positive = Field(
        30.0, description="What is older goes, in days for which the machine has run since: a wall clock may jump"
    )
    max_wait_s: float = Field(
        0.1,
        ge=0.001,
        le=10,
        description="How long a prediction may wait for the disk; then it is published with "
        "`journaled: false`; less than `freshness.max_age_s`, of which at most four fifths are waited for",
    )
    sync_s: float = Field(
        5.0, ge=0.1, le=3600, description="What a power failure may lose of the journal, in seconds"
    )


PREPROCESS = (
    "Sets resize, color, scale, mean and std by one name; a key beside it goes before it. imagenet: as "
    "torchvision's networks want it; tf: −1 … 1; caffe: BGR less its mean; unit: 0 … 1; raw: 0 … 255"
)
RESIZE = (
    "How a picture takes the input's shape. stretch: all of it, in other proportions; crop: its largest centred "
    "part; pad: all of it, with black beside it; center-crop: its shorter side to 256/224 of the input's, then "
    "the centre"
)


class Model(Section):
    """The network, and what it wants as input where its file does not say (see `model.package`)."""

    name: str | None = Field(
        None, description="A bundled model (digits), or resnet18 … resnet152 with random weights, for timing only"
    )
    path: Path | None = Field(None, description="An ONNX file")
    labels: Path | None = Field(None, description="Text file, one label a line")
    size: Pixels | tuple[Pixels, Pixels] | None = Field(None, description="Input size, or width and height")
    preprocess: Preprocess | None = Field(None, description=PREPROCESS)
    resize: Resize | None = Field(None, description=RESIZE)
    color: Color | None = Field(None, description="Channel order that the model wants, or that it wants one, gray")
    scale: Positive | None = Field(None, description="Input = (pixel × scale − mean) ÷ std; pixel is 0 to 255")
    mean: ByChannel | None = Field(
        None, description="By channel, in the model's order; one number where it is gray"
    )
    std: PositiveByChannel | None = Field(None, description="By channel, in the model's order; above 0")

    @field_validator("path")
    @classmethod
    def _one_source(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        if path and info.data.get("name"):
            raise ValueError("give name or path, not both")
        return path


class Freshness(Section):
    """How long a frame may wait, and how many of each camera may."""

    keep: int = Field(1, ge=1, le=64, description="Frames of each camera that may wait; the newest stay")
    max_age_s: Positive = Field(0.5, description="A frame older than this is never predicted or published")
    deadline_s: Positive = Field(
        1.5,
        description="A worker that holds a job longer (at least five times its warm-up run) is killed and started "
        "again",
    )


class Recovery(Section):
    """When a worker is lost: how often it is started again, and when its device is given up."""

    losses: int = Field(
        3, ge=1, le=100, description="So many losses of a worker within_s, and the next one serves"
    )
    within_s: Positive = Field(60.0, description="The time in which losses are counted together")
    retry_device_s: Positive = Field(
        60.0, description="A device that was given up is tried again after this time, then after twice as long, …"
    )
    start_s: Positive = Field(
        300.0, description="A worker that is not ready by then is killed, its device given up"
    )


class Snapshot(Section):
    """Small JPEG pictures of frames, for `edged view`. Whoever may subscribe may see them."""

    every_s: float = Field(0.5, ge=0.1, le=3600, description="One at most in so many seconds")
    width: int = Field(
        320, ge=32, le=1920, description="It is at most so many pixels wide, and as many high; never enlarged"
    )
    quality: int = Field(70, ge=10, le=95, description="Of the JPEG, at best")
    max_kilobytes: int = Field(
        32,
        ge=2,
        le=512,
        description="A larger one is made with less quality, or left out where that is not enough",
    )
