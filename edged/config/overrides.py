"""Merge all sources into one document: the config file, its drop-ins by name, environment variables, `--set`.

Mappings are merged key by key; lists and all other values are replaced. Each value keeps its place.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from edged.config.pipeline import Config
from edged.config.yaml_positions import Document, Mistake, Path, Position, Value, read

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


def add_drop_in(document: Document, source: str, text: str, before: frozenset[str]) -> None:
    """Merge the drop-in `source` into `document`. `before`: the drop-ins before it; none may be contradicted."""
    added = read(text)
    added.keys = {path: replace(position, source=source) for path, position in added.keys.items()}
    added.values = {path: replace(position, source=source) for path, position in added.values.items()}
    document.mistakes += [replace(each, position=replace(each.position, source=source)) for each in added.mistakes]
    if isinstance(added.value, dict):
        document.value = _Merge(document, added, before).merge((), document.value, added.value)
    elif added.value is not None:
        document.mistakes.append(Mistake(added.nearest(()), (), "this is not a mapping of keys to values"))


def add_override(document: Document, override: Override) -> None:
    """Set the key of `override` in `document`."""
    path = key_of(override, document.value)
    position = Position(0, 0, override.source)
    parsed = read(override.text)
    if parsed.mistakes:
        document.mistakes.append(Mistake(position, path, parsed.mistakes[0].message))
        return
    value: Any = parsed.value
    for key in reversed(path):
        value = {key: value}
    parents = [path[:depth] for depth in range(1, len(path) + 1)]
    added = Document(
        keys=dict.fromkeys([*parents, *((*path, *below) for below in parsed.keys)], position),
        values=dict.fromkeys([*parents, *((*path, *below) for below in parsed.values)], position),
    )
    document.value = _Merge(document, added, frozenset()).merge((), document.value, value)


class _Merge:
    """Merges values into a document, and their places with them."""

    def __init__(self, document: Document, added: Document, before: frozenset[str]) -> None:
        self._document = document
        self._added = added
        self._before = before

    def merge(self, path: Path, old: Any, new: Any) -> Any:
        """Return `old` with `new` merged into it: a value of `new`'s mappings replaces the one in `old`."""
        if isinstance(new, dict) and isinstance(old, dict):
            for key, value in new.items():
                self._document.keys.setdefault((*path, key), self._added.keys[*path, key])
                old[key] = self.merge((*path, key), old.get(key), value)
            return old
        if isinstance(old, list) and _is_entry(new):
            return self._merge_entry(path, old, *new.popitem())
        self._replace(path, old, new)
        return new

    def _merge_entry(self, path: Path, old: list[Any], index: int, new: Any) -> list[Any]:
        if index < len(old):
            old[index] = self.merge((*path, index), old[index], new)
        else:
            has = f"this list has {len(old)} entr{'y' if len(old) == 1 else 'ies'}"
            missing = f"there is no entry {index}: {has}, counted from 0"
            self._document.mistakes.append(Mistake(self._added.values[*path, index], path, missing))
        return old

    def _replace(self, path: Path, old: Any, new: Any) -> None:
        """Replace the places of the value at `path` and below; report another drop-in that sets another value."""
        depth = len(path)
        below = [each for each in self._document.values if each[:depth] == path]
        rivals = [
            position for each in below if (position := self._document.values.pop(each)).source in self._before
        ]
        for each in below:
            if each != path:
                self._document.keys.pop(each, None)
        self._document.values |= {each: at for each, at in self._added.values.items() if each[:depth] == path}
        self._document.keys |= {each: at for each, at in self._added.keys.items() if each[:depth] == path}
        if rivals and old != new:
            other = f"{rivals[0].source}:{rivals[0].line}"
            contradiction = f"contradicts {other}, which sets another value: remove one of the two"
            self._document.mistakes.append(Mistake(self._added.nearest(path), path, contradiction))


def _is_entry(new: Any) -> bool:
    """Return whether `new` stands for one entry of a list, by its index, and not for a mapping of YAML."""
    return isinstance(new, dict) and len(new) == 1 and isinstance(next(iter(new)), int)
