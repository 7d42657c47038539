"""The layers of a network in the YAML file: `relu`, `{max_pool: 2}`, `{conv: {filters: 32}}`."""

import difflib
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from edged.config.sections import Section

Count = Annotated[int, Field(ge=1, le=16_384)]
Padding = Literal["same", "none"]
PADDING = "same: zeros around it, so that no border is lost"


class EmptySection(Section):
    """A layer without settings."""


class ConvLayer(Section):
    """A convolution, then a bias."""

    filters: Count = Field(description="Channels that it writes")
    kernel: Count = Field(3, description="Side of its window in pixels")
    stride: Count = Field(1, description="Pixels from one window to the next")
    padding: Padding = Field("same", description=PADDING)
    groups: Count = Field(1, description="Groups of channels, each convolved by itself")


class DepthwiseLayer(Section):
    """A convolution of each channel by itself, then a bias."""

    kernel: Count = Field(3, description="Side of its window in pixels")
    stride: Count = Field(1, description="Pixels from one window to the next")
    padding: Padding = Field("same", description=PADDING)


class PoolLayer(Section):
    """A maximum or a mean over windows."""

    size: Count = Field(description="Side of the window in pixels")
    stride: Count | None = Field(None, description="Pixels from one window to the next (default: size)")
    padding: Annotated[int, Field(ge=0, le=255)] = Field(
        0, description="Pixels around the image, which never count"
    )


class DenseLayer(Section):
    """Every output from every input."""

    units: Count | Literal["classes"] = Field(description="Outputs; classes: as many as the data have labels")


class DropoutLayer(Section):
    """Values that are zero at random in training, so that the network does not rely on single ones."""

    share: Annotated[float, Field(gt=0, lt=1)] = Field(description="Of the values; the others are scaled up")


class Layer(Section):
    """A layer of the network: exactly one of these keys."""

    conv: ConvLayer | None = Field(None, description="Convolution; a number alone is its filters")
    depthwise: DepthwiseLayer | None = Field(
        None, description="Convolution of each channel by itself; a number alone is its kernel"
    )
    norm: EmptySection | None = Field(
        None, description="Batch normalisation, folded away when the network is written"
    )
    relu: EmptySection | None = Field(None, description="max(x, 0)")
    relu6: EmptySection | None = Field(None, description="min(max(x, 0), 6), as in MobileNets")
    sigmoid: EmptySection | None = Field(None, description="1 ÷ (1 + e⁻ˣ)")
    max_pool: PoolLayer | None = Field(None, description="Maximum of each window; a number alone is its size")
    average_pool: PoolLayer | None = Field(None, description="Mean of each window; a number alone is its size")
    global_pool: EmptySection | None = Field(None, description="Mean of each channel, as features")
    residual: tuple["Layer", ...] = Field(
        (), description="Layers whose output is added to their input, by a 1×1 convolution where the shapes differ"
    )
    flatten: EmptySection | None = Field(None, description="An image as features")
    dense: DenseLayer | None = Field(None, description="Fully connected; a number alone, or classes, is its units")
    dropout: DropoutLayer | None = Field(
        None, description="Zeros at random in training alone; a number alone is its share"
    )
    softmax: EmptySection | None = Field(None, description="At the end, where it is added if it is missing")

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, written: Any) -> Any:
        """Expand `relu` and `{conv: 32}` to `{relu: {}}` and `{conv: {filters: 32}}`."""
        if isinstance(written, str):
            return {_known(written): {}}
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError("expected one layer, such as relu or {conv: {filters: 32, kernel: 3}}")
        [(kind, settings)] = written.items()
        if _known(kind) in FIRST and not isinstance(settings, dict):
            return {kind: {FIRST[kind]: settings}}
        if isinstance(settings, list):
            return {kind: tuple(settings)}  # no longer JSON here: a list must be a tuple
        return {kind: {} if settings is None else settings}

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if self.kind == "residual" and not self.residual:
            raise ValueError("expected a list of layers: {residual: [ … ]}")
        return self

    @property
    def kind(self) -> str:
        return next(iter(self.model_fields_set))


FIRST = {
    "conv": "filters",
    "depthwise": "kernel",
    "max_pool": "size",
    "average_pool": "size",
    "dense": "units",
    "dropout": "share",
}


def _known(kind: object) -> str:
    """Check the kind of a layer. Raises ValueError."""
    if kind in Layer.model_fields:
        return str(kind)
    nearest = difflib.get_close_matches(str(kind), list(Layer.model_fields), n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"expected one of: {', '.join(Layer.model_fields)}"
    raise ValueError(f"unknown layer '{str(kind)[:60]}'; {hint}")
