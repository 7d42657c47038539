"""Values that override the config file: environment variables and `--set`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from edged.config.pipeline import Config
from edged.config.yaml_positions import Path, Value

PREFIX = "EDGED_"
LEVEL = "__"  # between two levels of a variable's name: EDGED_METRICS__ADDRESS


@dataclass(frozen=True, slots=True)
class Override:
    """A value for one key. `source`: what sets it, for messages; `parts`: the key as written; `text`: YAML."""

    source: str
    parts: tuple[str, ...]
    text: str

    @property
    def is_variable(self) -> bool:
        """Return whether an environment variable sets it, whose name has neither case nor punctuation."""
        return self.source.startswith(PREFIX)


def is_override(name: str) -> bool:
    """Return whether an environment variable sets a key of the config: EDGED_LOG_LEVEL, for example, does not."""
    key = name.removeprefix(PREFIX)
    return name.startswith(PREFIX) and (LEVEL in key.strip("_") or key.lower() in Config.model_fields)


def overrides_of(environment: Mapping[str, str]) -> tuple[Override, ...]:
    """Return the overrides among the variables, in order of name."""
    return tuple(
        Override(name, tuple(name.removeprefix(PREFIX).split(LEVEL)), text)
        for name, text in sorted(environment.items())
        if is_override(name)
    )


def override_of(argument: str) -> Override:
    """Parse the argument of `--set`, KEY=VALUE with a dotted KEY. Raises ValueError."""
    key, equals, text = argument.partition("=")
    if not equals or not all(key.split(".")):
        raise ValueError("expected KEY=VALUE, such as metrics.address=127.0.0.1:9465")
    return Override(f"--set {key}", tuple(key.split(".")), text)


def key_of(override: Override, value: Value) -> Path:
    """Return the path of the key that `override` sets in the config `value`.

    Keys of `value` are recognised whatever the case of a variable's name, which has `_` for their `-` and `.`.
    """
    path: Path = ()
    parts = override.parts
    while parts:
        key, used = _next_key(parts, value, _plain if override.is_variable else str)
        path, parts = (*path, key), parts[used:]
        value = _below(value, key)
    return path


def _next_key(parts: tuple[str, ...], value: Value, form: Callable[[str], str]) -> tuple[str | int, int]:
    """Return the next key and how many of `parts` it takes: names of cameras may have dots."""
    if isinstance(value, list) and parts[0].isdecimal():
        return int(parts[0]), 1
    known = value if isinstance(value, dict) else {}
    for used in range(len(parts), 0, -1):
        written = ".".join(parts[:used])
        for key in sorted(known, key=lambda each: each != written):  # the exact name first
            if form(key) == form(written):
                return key, used
    return parts[0].lower() if form is _plain else parts[0], 1


def _plain(name: str) -> str:
    return re.sub(r"[.-]", "_", name).lower()


def _below(value: Value, key: str | int) -> Value:
    if isinstance(value, dict):
        return value.get(str(key))
    return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
