"""`model`: the network."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from edged.config.section import ByChannel, Pixels, Positive, PositiveByChannel, Section

Color = Literal["rgb", "bgr", "gray"]


class Model(Section):
    """The network, and what it wants as input where its file does not say (see `model.package`)."""

    name: str | None = Field(
        None, description="A bundled model (digits), or resnet18 … resnet152 with random weights, for timing only"
    )
    path: Path | None = Field(None, description="An ONNX file")
    labels: Path | None = Field(None, description="Text file, one label a line")
    size: Pixels | tuple[Pixels, Pixels] | None = Field(None, description="Input size, or width and height")
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
