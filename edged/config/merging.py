"""Several sources as one document: the config file, its drop-ins by name, variables, `--set`.

Mappings are merged key by key; lists and all other values are replaced. Each value keeps its place.
"""

from dataclasses import replace
from typing import Any

from edged.config.overrides import Override, key_of
from edged.config.yaml_positions import Document, Mistake, Path, Position, read


def add_drop_in(document: Document, source: str, text: str, before: frozenset[str]) -> None:
    """Merge the drop-in `source` into `document`. `before`: the drop-ins before it; none may be contradicted."""
    added = read(text)
    added.keys = {path: replace(place, source=source) for path, place in added.keys.items()}
    added.values = {path: replace(place, source=source) for path, place in added.values.items()}
    document.mistakes += [replace(each, place=replace(each.place, source=source)) for each in added.mistakes]
    if isinstance(added.value, dict):
        document.value = _Merge(document, added, before).merge((), document.value, added.value)
    elif added.value is not None:
        document.mistakes.append(Mistake(added.nearest(()), (), "this is no list of keys and values"))


def add_override(document: Document, override: Override) -> None:
    """Set the key of `override` in `document`."""
    path = key_of(override, document.value)
    place = Position(0, 0, override.source)
    parsed = read(override.text)
    if parsed.mistakes:
        document.mistakes.append(Mistake(place, path, parsed.mistakes[0].message))
        return
    value: Any = parsed.value
    for key in reversed(path):
        value = {key: value}
    parents = [path[:depth] for depth in range(1, len(path) + 1)]
    added = Document(
        keys=dict.fromkeys([*parents, *((*path, *below) for below in parsed.keys)], place),
        values=dict.fromkeys([*parents, *((*path, *below) for below in parsed.values)], place),
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
        below = [each for each in self._document.values if each[: len(path)] == path]
        rivals = [place for each in below if (place := self._document.values.pop(each)).source in self._before]
        for each in below:
            if each != path:
                self._document.keys.pop(each, None)
        self._take(path)
        if rivals and old != new:
            other = f"{rivals[0].source}:{rivals[0].line}"
            contradiction = f"contradicts {other}, which sets another value: remove one of the two"
            self._document.mistakes.append(Mistake(self._added.nearest(path), path, contradiction))

    def _take(self, path: Path) -> None:
        depth = len(path)
        self._document.values |= {each: at for each, at in self._added.values.items() if each[:depth] == path}
        self._document.keys |= {each: at for each, at in self._added.keys.items() if each[:depth] == path}


def _is_entry(new: Any) -> bool:
    """Return whether `new` stands for one entry of a list, by its index, and not for a mapping of YAML."""
    return isinstance(new, dict) and len(new) == 1 and isinstance(next(iter(new)), int)
