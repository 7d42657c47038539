"""What of a config with mistakes is valid, so that `edged check` and `edged doctor` can check that too."""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from edged.config.load import ConfigSource, lines_of, merged_document, validated
from edged.config.pipeline import Config
from edged.config.validation_errors import mistakes_of

STAND_IN = "stand-in"  # a camera, where none is valid: a config has at least one
BY_NAME = {"cameras": "camera", "states": "states"}  # sections of which a single entry may be wrong


@dataclass(frozen=True)
class ValidParts:
    """`config`: defaults in place of what is wrong. `mistakes`: a line each, with its place.

    `left_out`: what `config` does not have from the file: sections, or entries such as `camera door`, `worker 1`.
    """

    config: Config
    mistakes: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Return whether the file has no mistake."""
        return not (self.mistakes or self.left_out)

    def has(self, *names: str) -> bool:
        """Return whether these are as the file says."""
        return self.left_out.isdisjoint(names)


def valid_parts(source: ConfigSource) -> ValidParts:
    """Return what is valid. Raises ConfigError if the file cannot be read as keys and values."""
    document = merged_document(source.path, source.settings)
    if not isinstance(document.value, dict) or not document.value:
        return ValidParts(source.load())  # which raises the error
    left_out: set[str] = set()
    config = None
    while config is None:
        try:
            config = validated(document.value, Config, source.path.absolute().parent)
        except ValidationError as error:
            if not left_out:  # later errors come of what is left out: a state without its camera
                document.mistakes.extend(mistakes_of(error, document, Config))
            left_out |= {_leave_out(document.value, each["loc"]) for each in error.errors(include_url=False)}
            left_out.add(f"camera {STAND_IN}")
    mistakes = tuple(lines_of(source.path, document.mistakes))
    return ValidParts(config, mistakes, frozenset(left_out))


def _leave_out(value: dict[str, Any], place: tuple[int | str, ...]) -> str:
    """Remove the section, or the one entry of it, in which an error is; return its name."""
    match place:
        case ("cameras" | "states" as section, str(name), *_) if isinstance(value.get(section), dict):
            value[section].pop(name, None)
            what = f"{BY_NAME[section]} {name}"
        case ("workers", int(index), *_) if isinstance(value.get("workers"), list):
            value["workers"][index] = {"device": "numpy"}  # the others keep their numbers
            what = f"worker {index}"
        case _:
            value.pop(str(place[0]), None)
            what = str(place[0])
    if not value.get("cameras"):
        value["cameras"] = {STAND_IN: {"source": "synthetic:digits"}}
    return what
