"""Tuning records: measured choices as JSON, from the user's folder, for a device, or for its family."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from edged.engine.device import Device
from edged.engine.layout import Element
from edged.engine.selection import Choice, Chooser, Rules, candidates, find_candidate, source_digest
from edged.engine.shape import RecordSection, Shape, shape_of
from edged.engine.variants.variant import Site
from edged.errors import ConfigError, DeviceError
from edged.system.files import FOR_ALL, read_regular_file, refuse_newer, replace_file, why_not_trusted, writing
from edged.system.paths import state_directory

SHIPPED = Path(str(files("edged.engine"))) / "tuned"

SCHEMA: Final = 1
MAX_BYTES = 16_000_000
Reason = Literal["wrong", "failed", "unfinished"]
WHAT_TO_DO = "correct the file, or remove it and run `edged tune`"
log = logging.getLogger(__name__)


def user_record(device: Device, state: Path | None = None) -> Path:
    """Return the file that `edged tune` writes.

    `state`: folder of files that must survive a restart, None for the user's.
    """
    return (state or state_directory()) / "tuned" / file_name(device)


def record_places(device: Device, state: Path | None = None) -> tuple[Path, ...]:
    """Return the files to search, in order of preference."""
    return user_record(device, state), SHIPPED / file_name(device), SHIPPED / f"{family_of(device)}.json"


def file_name(device: Device) -> str:
    """Return the name of a device's file: equal on boards of the same kind, so that records can be copied."""
    return f"{_plain(f'{device.platform} {device.name} {device.driver} x{device.compute_units}')}.json"


def family_of(device: Device) -> str:
    """Return the family of devices that the same choices suit: Mali, GPUs by maker, CPUs by maker and width."""
    name = device.name.casefold()
    if mali := re.search(r"mali-(t\d|g)", name):
        return mali[0]
    maker = next((maker for maker in ("amd", "intel", "nvidia", "adreno", "powervr") if maker in name), None)
    if device.kind == "cpu":
        return f"cpu-{maker or 'other'}-{device.vector_width}"
    return f"{device.kind}-{maker or _plain(device.platform)}"


def _plain(text: str) -> str:
    """Convert to small letters, digits and single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


class TunedVariant(RecordSection):
    """A variant with its parameters."""

    variant: str
    parameters: Mapping[str, int]

    def __str__(self) -> str:
        return " ".join([self.variant, *(f"{name}={value}" for name, value in self.parameters.items())])


class BestVariant(TunedVariant):
    """The fastest variant of those that agreed with the reference."""

    seconds: float = Field(gt=0, description="On the device, its weights not in the caches")


class RefusedVariant(TunedVariant):
    """A variant that must not be used again, until its source changes."""

    reason: Reason = Field(
        description="wrong: does not agree with the reference; failed: the driver refused it; "
        "unfinished: the tuner was killed while it ran"
    )
    detail: str = Field(description="The error as a share of the range, or the driver's words")
    source: str = Field(description="Digest of its kernels' source")


class TunedShape(RecordSection):
    """The results for one shape. `best` is absent while no variant was found correct."""

    shape: Shape
    best: BestVariant | None = None
    rules_seconds: float | None = Field(None, gt=0, description="What the untuned choice takes")
    tried: str = Field("", description="Digest of all candidates once all have had their chance; empty before")
    refused: tuple[RefusedVariant, ...] = ()


class MeasuredOn(RecordSection):
    """The device that the figures are of."""

    platform: str
    name: str
    driver: str


class TuningRecord(RecordSection):
    """The content of a file of tuning records."""

    schema_version: Literal[1] = Field(SCHEMA, alias="schema")
    edged: str = Field(description="Version of edged that wrote it")
    device: MeasuredOn
    tuned: tuple[TunedShape, ...] = ()


def measured_on(device: Device) -> MeasuredOn:
    """Return the device's entry in a record."""
    return MeasuredOn(platform=device.platform, name=device.name, driver=device.driver)


def read_record(path: Path) -> TuningRecord | None:
    """Return the record in a file, None if there is none.

    Raises ConfigError with every mistake and its place, also if another user could have written the file;
    NewerStateError.
    """
    try:
        problem = "" if path.is_relative_to(SHIPPED) else why_not_trusted(path, path.stat())
        if problem:
            raise ConfigError(f"tuning record {problem}")
        content = read_regular_file(path, MAX_BYTES)
        refuse_newer(path, content, SCHEMA)
        return TuningRecord.model_validate_json(content)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"tuning record {path} cannot be read: {error.strerror}; {WHAT_TO_DO}") from None
    except ValidationError as error:
        raise ConfigError(f"tuning record {path}: {_mistakes(error)}; {WHAT_TO_DO}") from None


def write_json(path: Path, content: TuningRecord | TunedShape) -> None:
    """Replace the file in one step: a reader sees the old one or the new. Raises ConfigError."""
    text = content.model_dump_json(by_alias=True, exclude_none=True, indent=1) + "\n"
    with writing(f"tuning record {path}", ConfigError, "set XDG_STATE_HOME to another folder"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, FOR_ALL) as file:
            file.write(text.encode())


def json_schema() -> str:
    """Return the JSON Schema of the file: the text of edged/tuning.schema.json."""
    schema = TuningRecord.model_json_schema(by_alias=True)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _mistakes(error: ValidationError) -> str:
    """Return the first few, each as place: what was expected."""
    shown = [f"{_place(each['loc'])}{each['msg']}" for each in error.errors(include_url=False)[:3]]
    more = error.error_count() - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _place(parts: tuple[int | str, ...]) -> str:
    """Format a path in the file as in JavaScript: tuned[3].best.seconds."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return f"{place.lstrip('.')}: " if place else ""


@dataclass(frozen=True)
class TuningRecords:
    """Chooses by `tuned`, by key of the shape and in order of preference; by `rules` if there is no entry."""

    tuned: Mapping[str, tuple[TunedShape, ...]]
    rules: Chooser = field(default_factory=Rules)

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block size of the rules: records are valid for the layout in which they were measured."""
        return self.rules.channel_block(device, element)

    def choose(self, site: Site[Any]) -> Choice:
        """Return the first choice that is known and not refused. Raises DeviceError if all are refused."""
        tuned = self.tuned.get(shape_of(site).key, ())
        for choice in self._in_order(site, tuned):
            if not any(is_refused(site, choice, each) for each in tuned):
                return choice
        raise DeviceError(
            f"{site.device.name} computes {site.operator.name} wrongly by every variant; see `edged devices` "
            "for others, or tune again after an update of its driver"
        )

    def _in_order(self, site: Site[Any], tuned: tuple[TunedShape, ...]) -> Iterator[Choice]:
        for each in tuned:
            if each.best and (known := find_candidate(site, each.best.variant, each.best.parameters)):
                yield known
            elif each.best:
                _warn(f"tuning record for {each.shape}: there is no {each.best} any more; run `edged tune` again")
        yield self.rules.choose(site)
        yield from candidates(site)


def chooser_for(device: Device, state: Path | None = None) -> TuningRecords:
    """Return the chooser for plans on `device`. `state`: see `user_record`.

    A record that cannot be used is logged as a warning, and the next one applies.
    """
    by_key: dict[str, tuple[TunedShape, ...]] = {}
    for path in record_places(device, state):
        for tuned in record.tuned if (record := _usable(path)) else ():
            by_key[tuned.shape.key] = (*by_key.get(tuned.shape.key, ()), tuned)
    return TuningRecords(by_key)


def chooser_named(conv: str, device: Device) -> Chooser:
    """Return the chooser by records and rules for auto; by rules alone for a named variant.

    Raises ConfigError, as `Rules`.
    """
    return chooser_for(device) if conv == "auto" else Rules(conv)


def is_refused(site: Site[Any], choice: Choice, tuned: TunedShape) -> bool:
    """Return whether `choice`, with its kernels as they are now, must not be used."""
    return any(
        refusal.variant == choice.variant.name
        and refusal.parameters == choice.parameters
        and refusal.source == source_digest(site, choice)
        for refusal in tuned.refused
    )


def _usable(path: Path) -> TuningRecord | None:
    try:
        return read_record(path)
    except ConfigError as error:
        _warn(f"{error}. Until then the untuned choice is used")
        return None


@cache
def _warn(message: str) -> None:
    """Warn once: a plan has many sites, and a process makes several plans."""
    log.warning("%s", message)
