"""Tuning records: what was measured on a device, as a JSON file that a board may get from another of its kind."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from edged.engine.device import Device
from edged.engine.record_places import SHIPPED
from edged.engine.shape import Part, Shape
from edged.errors import ConfigError
from edged.regular_file import read_regular_file
from edged.replace_file import FOR_ALL, replace_file
from edged.trusted import why_not_trusted

MAX_BYTES = 16_000_000
Reason = Literal["wrong", "failed", "unfinished"]


class Way(Part):
    """A variant with its parameters."""

    variant: str
    parameters: Mapping[str, int]

    def __str__(self) -> str:
        return " ".join([self.variant, *(f"{name}={value}" for name, value in self.parameters.items())])


class Best(Way):
    """The fastest of those that agreed with the reference."""

    seconds: float = Field(gt=0, description="On the device, its weights not in the caches")


class Refusal(Way):
    """One that must not be used again, until its source changes."""

    reason: Reason = Field(
        description="wrong: does not agree with the reference; failed: the driver refused it; "
        "unfinished: the tuner was killed while it ran"
    )
    detail: str = Field(description="The error as a share of the range, or the driver's words")
    source: str = Field(description="Digest of its kernels' source")


class Tuned(Part):
    """All that is known of one shape. `best` is absent while nothing has been found right."""

    shape: Shape
    best: Best | None = None
    rules_seconds: float | None = Field(None, gt=0, description="What the untuned choice takes")
    tried: str = Field("", description="Digest of all candidates once all have had their chance; empty before")
    refused: tuple[Refusal, ...] = ()


class MeasuredOn(Part):
    """The device that the figures are of."""

    platform: str
    name: str
    driver: str


class Record(Part):
    """The file."""

    schema_version: Literal[1] = Field(1, alias="schema")
    edged: str = Field(description="Version of edged that wrote it")
    device: MeasuredOn
    tuned: tuple[Tuned, ...] = ()


def measured_on(device: Device) -> MeasuredOn:
    """How a record names `device`."""
    return MeasuredOn(platform=device.platform, name=device.name, driver=device.driver)


def read_record(path: Path) -> Record | None:
    """The record in a file, None if there is no such file.

    Raises ConfigError with every mistake and its place, also where another user could have written the file.
    """
    try:
        problem = "" if path.is_relative_to(SHIPPED) else why_not_trusted(path, path.stat())
        if problem:
            raise ConfigError(f"tuning record {problem}")
        return Record.model_validate_json(read_regular_file(path, MAX_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"tuning record {path} cannot be read: {error.strerror}; {WHAT_TO_DO}") from None
    except ValidationError as error:
        raise ConfigError(f"tuning record {path}: {_mistakes(error)}; {WHAT_TO_DO}") from None


WHAT_TO_DO = "correct the file, or remove it and run `edged tune`"


def write_json(path: Path, content: Record | Tuned) -> None:
    """Replace the file in one step: a reader sees the old one or the new. Raises ConfigError."""
    text = content.model_dump_json(by_alias=True, exclude_none=True, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, FOR_ALL) as file:
            file.write(text.encode())
    except OSError as error:
        raise ConfigError(
            f"tuning record {path} cannot be written: {error.strerror}; set XDG_STATE_HOME to another folder"
        ) from None


def json_schema() -> str:
    """The JSON Schema of the file: the text of edged/tuning.schema.json."""
    schema = Record.model_json_schema(by_alias=True)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _mistakes(error: ValidationError) -> str:
    """The first few, each as place: what was expected."""
    shown = [f"{_place(each['loc'])}{each['msg']}" for each in error.errors(include_url=False)[:3]]
    more = error.error_count() - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _place(parts: tuple[int | str, ...]) -> str:
    """tuned[3].best.seconds, as in JavaScript."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return f"{place.lstrip('.')}: " if place else ""
