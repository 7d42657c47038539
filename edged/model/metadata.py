"""The metadata of a model: properties `edged.…` of an ONNX file, values in JSON."""

import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from edged.config.sections import ByChannel, Positive, PositiveByChannel, Share
from edged.errors import ModelError
from edged.messages.detection import DecodeWanted, Task
from edged.messages.preparation import Color, Preprocess, Resize
from edged.messages.scores import ScoresWanted
from edged.system.plain_text import problem_of

PREFIX = "edged."
MOST_SHOWN = 5  # mistakes that are shown
TEXTS = frozenset(
    {"name", "preprocess", "resize", "color", "scores", "task", "decode"}
)  # the other values are in JSON


def _checked(text: str) -> str:
    """Return `text`. Raises ValueError if it holds control characters or is too long."""
    if problem := problem_of(text):
        raise ValueError(problem)
    return text


Label = Annotated[str, AfterValidator(_checked)]


class Metadata(BaseModel):
    """Labels by class index, and the keys of the config's `model`; None if the file has no value."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)

    name: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_checked)] | None = None
    labels: tuple[Label, ...] | None = None
    preprocess: Preprocess | None = None
    resize: Resize | None = None
    color: Color | None = None
    scale: Positive | None = None
    mean: ByChannel | None = None
    std: PositiveByChannel | None = None
    scores: ScoresWanted | None = None
    task: Task | None = None
    decode: DecodeWanted | None = None
    overlap: Share | None = None


def encode(metadata: Metadata) -> dict[str, str]:
    """Return the properties to write into a file: texts unchanged, the rest in JSON."""
    values = metadata.model_dump(exclude_none=True, mode="json")
    return {
        PREFIX + key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in values.items()
    }


def decode(properties: Mapping[str, str]) -> Metadata:
    """Decode the properties that `encode` wrote; others are ignored. Raises ModelError."""
    values = {
        key: _value(key, properties[PREFIX + key]) for key in Metadata.model_fields if PREFIX + key in properties
    }
    try:
        return Metadata.model_validate(values)
    except ValidationError as error:
        mistakes = "; ".join(
            f"{PREFIX}{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()[:MOST_SHOWN]
        )
        raise ModelError(f"metadata: {mistakes}") from None


def _value(key: str, text: str) -> object:
    if key in TEXTS:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"metadata: {PREFIX}{key}: expected JSON") from None
