"""The key of a tuning record: everything about a site that its speed may depend on, as plain values."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from edged.engine.layout import Element, Tensor
from edged.engine.variants.variant import Site
from edged.model.graph import Operator

NAMES = frozenset(field.name for field in fields(Operator))  # names of an operator and its tensors


class RecordSection(BaseModel):
    """A part of a record: unknown keys are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


class Image(RecordSection):
    """A tensor without its name and halo."""

    channels: int = Field(ge=1)
    height: int = Field(ge=1)
    width: int = Field(ge=1)
    block: int = Field(ge=1, description="Channels that lie side by side")
    element: Element = Field(Element.FLOAT32, description="How a number is stored")


class Shape(RecordSection):
    """An operator and its tensors, without names and weights."""

    operator: str
    frames: int = Field(ge=1, description="Frames that a job may carry")
    inputs: tuple[Image, ...]
    output: Image
    half_weights: bool = Field(False, description="Weights stored as float16")
    attributes: dict[str, JsonValue] = Field(description="As in the network; of weights their shape")

    @property
    def key(self) -> str:
        """Return a key that is equal only for equal shapes."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True)

    def __str__(self) -> str:
        """Format it briefly: Conv 256×16×16 → 64×16×16, weight 64×256×1×1."""
        weight = self.attributes.get("weight")
        kernel = f", weight {_times(weight)}" if isinstance(weight, list) else ""
        images = [_times((image.channels, image.height, image.width)) for image in (*self.inputs[:1], self.output)]
        return f"{self.operator} {' → '.join(images)}{kernel}"


def shape_of(site: Site[Any]) -> Shape:
    """Return the shape by which a record names `site`."""
    operator = site.operator
    names = [field.name for field in fields(operator) if field.name not in NAMES]
    return Shape(
        operator=type(operator).__name__,
        frames=site.output.frames,
        inputs=tuple(map(_image, site.inputs)),
        output=_image(site.output),
        half_weights=site.half_weights,
        attributes={name: _plain(getattr(operator, name)) for name in names},
    )


def _image(tensor: Tensor) -> Image:
    return Image(
        channels=tensor.channels,
        height=tensor.height,
        width=tensor.width,
        block=tensor.block,
        element=tensor.element,
    )


def _plain(value: Any) -> JsonValue:
    """Return `value` for JSON; an array as its shape."""
    if isinstance(value, np.ndarray):
        return list(value.shape)
    return list(value) if isinstance(value, tuple) else value


def _times(numbers: Iterable[Any]) -> str:
    return "×".join(map(str, numbers))
