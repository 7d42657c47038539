"""`model`: the network."""

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from edged.config.section import ByChannel, Pixels, Positive, PositiveByChannel, Section
from edged.preparation import Color, Preprocess, Resize

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
