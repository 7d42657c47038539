"""The YAML file of a training as frozen types: data, the network's input, its layers, and settings."""

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from edged.config.load import load_as
from edged.config.paths import ConfigPath
from edged.config.sections import ByChannel, Name, Pixels, Positive, PositiveByChannel, Section, Share, Text
from edged.errors import ConfigError
from edged.messages.preparation import Color
from edged.model.package import Input
from edged.model.prepare import CHANNELS
from edged.train.layers import Layer

EXAMPLE = (
    "{name: mine, data: {folder: PICTURES}, input: {width: 28, height: 28, color: gray}, "
    "layers: [flatten, {dense: classes}]}"
)
NETWORKS = resources.files("edged.train") / "networks"

KINDS = ("idx", "folder", "crops", "drawn")  # kinds of data

Count = Annotated[int, Field(ge=1, le=10**9)]
Momentum = Annotated[float, Field(ge=0, lt=1)]
NotNegative = Annotated[float, Field(ge=0)]


class Data(Section):
    """The source of the pictures: one of these. `--data FOLDER` names another folder."""

    idx: ConfigPath | None = Field(
        None, description="Folder with the four IDX files of MNIST and its like, plain or .gz"
    )
    folder: ConfigPath | None = Field(
        None,
        description="Folder with a sub-folder of pictures a label, or with such folders called train and test",
    )
    crops: ConfigPath | None = Field(
        None,
        description="Folder of what `edged teach` has recorded, STATE/NODE/teach; what it holds back is the test",
    )
    drawn: ConfigPath | None = Field(
        None, description="Folder with MNIST's IDX files, whose digits are drawn into scenes of 120×120 in colour"
    )
    replays: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="Of drawn: times in an epoch that a scene is trained on, each in other colours"
    )
    processes: Annotated[int, Field(ge=1, le=64)] = Field(2, description="Of drawn: processes that draw")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if len(self.model_fields_set & set(KINDS)) != 1:
            raise ValueError(f"expected one of: {', '.join(KINDS)}")
        return self

    @property
    def kind(self) -> str:
        return next(kind for kind in KINDS if kind in self.model_fields_set)

    @property
    def path(self) -> Path | None:
        """Return the folder; None if the command line must give it."""
        path: Path | None = getattr(self, self.kind)
        return path


class NetworkInput(Section):
    """The network's input: (pixel × scale − mean) ÷ std by channel, pixel is 0 to 255."""

    width: Pixels = Field(description="Pixels")
    height: Pixels = Field(description="Pixels")
    color: Color = Field("rgb", description="Channel order, or gray: one channel")
    scale: Positive = Field(1 / 255, description="Factor of each pixel")
    mean: ByChannel | None = Field(None, description="By channel (default: 0)")
    std: PositiveByChannel | None = Field(None, description="By channel (default: 1)")

    @field_validator("mean", "std")
    @classmethod
    def _fits_color(cls, numbers: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
        color: Color = info.data.get("color", "rgb")
        if numbers and len(numbers) != CHANNELS[color]:
            raise ValueError(f"has {len(numbers)} number(s) for the {CHANNELS[color]} channel(s) of {color}")
        return numbers

    def as_input(self) -> Input:
        """Convert to the type of the model package."""
        channels = CHANNELS[self.color]
        mean, std = self.mean or (0.0,) * channels, self.std or (1.0,) * channels
        return Input(self.width, self.height, self.color, self.scale, mean, std)


class Augment(Section):
    """Random changes of a picture each time it is used for training."""

    flip: bool = Field(False, description="Left and right are swapped half the time")
    shift: int = Field(0, ge=0, le=255, description="Pixels that it is moved, at most, each way; zeros come in")


class Learning(Section):
    """Training settings."""

    batch: Annotated[int, Field(ge=1, le=65_536)] = Field(128, description="Pictures of a step")
    epochs: Count | None = Field(None, description="Passes over all training pictures (default: 10)")
    steps: Count | None = Field(None, description="Steps in all, in place of epochs")
    optimizer: Literal["sgd", "adam", "adamw"] = Field(
        "sgd", description="adamw: weights decay apart from gradients"
    )
    momentum: Momentum = Field(0.0, description="Of sgd")
    nesterov: bool = Field(False, description="Nesterov's momentum")
    rate: Positive = Field(0.01, description="Learning rate, the highest")
    schedule: Literal["constant", "inverse", "cosine"] = Field(
        "constant", description="inverse: rate ÷ (1 + decay · step); cosine: down to 0 at the end"
    )
    decay: NotNegative = Field(0.0, description="Of the schedule inverse")
    warm_up: Share = Field(0.0, description="Share of all steps in which the rate rises in a line from 0")
    weight_decay: NotNegative = Field(0.0, description="Of weights, not of biases and norms")
    smoothing: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="Of labels")
    average: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="Weights are a mean of all steps, in which a step fades by this factor a step; 0: off"
    )
    augment: Augment = Field(default_factory=Augment, description="How pictures differ each time")
    validation: Annotated[float, Field(ge=0, le=0.9)] = Field(
        0.1, description="Share of the pictures held out for validation"
    )
    stop_after: Count | None = Field(
        None, description="Stop after this many epochs without better validation, and keep the best weights"
    )
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = Field(1, description="The same seed gives the same result")

    @field_validator("steps")
    @classmethod
    def _one_length(cls, steps: int | None, info: ValidationInfo) -> int | None:
        if steps and info.data.get("epochs"):
            raise ValueError("give epochs or steps, not both")
        return steps

    @field_validator("stop_after")
    @classmethod
    def _needs_validation(cls, epochs: int | None, info: ValidationInfo) -> int | None:
        if epochs and not info.data.get("validation", 1):
            raise ValueError("needs pictures that are held out: give validation more than 0")
        return epochs


class Output(Section):
    """Where results go."""

    folder: ConfigPath = Field(description="A folder")


class Training(Section):
    """A network, its training data, and the training settings."""

    name: Name = Field(description="Of the network")
    data: Data | None = Field(None, description="What it learns from")
    labels: tuple[Text, ...] | None = Field(None, description="By class; by default what the data say")
    input: NetworkInput | None = Field(None, description="What the network gets (needed without --from)")
    layers: tuple[Layer, ...] = Field((), description="In their order (needed without --from)")
    train: Learning = Field(default_factory=Learning, description="How it learns")
    output: Output | None = Field(None, description="Where results go")


def named_networks() -> list[str]:
    """Return the networks that are included in edged."""
    return sorted(file.name.removesuffix(".yaml") for file in NETWORKS.iterdir() if file.name.endswith(".yaml"))


def load_training(name_or_file: str) -> tuple[Training, Path]:
    """Return a named network or a YAML file, its paths resolved against its folder; and that file.

    Raises ConfigError.
    """
    path = Path(name_or_file)
    if name_or_file in named_networks():
        path = Path(str(NETWORKS / f"{name_or_file}.yaml"))
    elif not path.exists():
        raise ConfigError(
            f"{name_or_file}: there is no such file or network; networks are: {', '.join(named_networks())}"
        )
    return load_as(Training, path, EXAMPLE), path
