"""Map the names of folders and lists to the classes of a model: by its labels, or by index."""

import re
from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches

from edged.errors import DataError

SYNSET = re.compile(r"n\d{8}\b")  # of WordNet, as ImageNet names its folders


class ClassNames:
    """The names of a model's classes: its whole labels, then their parts between commas, and their synsets."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._count = len(labels)
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._parts: dict[str, list[int]] = defaultdict(list)
        for place, label in enumerate(labels):
            self._whole[_plain(label)].append(place)
            for part in {_plain(part) for part in [*label.split(","), *SYNSET.findall(label)]}:
                self._parts[part].append(place)

    def class_of(self, name: str) -> int:
        """Return the class that a label, a part of it, or an index names. Raises DataError."""
        name = name.strip()
        found = self._whole.get(_plain(name)) or self._parts.get(_plain(name)) or []
        if len(found) > 1:
            places = " and ".join(map(str, found))
            raise DataError(f"{name!r} is the label of the classes {places}: give the index instead")
        if found:
            return found[0]
        if name.isdecimal() and int(name) < self._count:
            return int(name)
        close = get_close_matches(_plain(name), self._whole, n=1)
        hint = f"; the closest label is {close[0]!r}" if close else ""
        raise DataError(f"{name!r} is no label of the model, nor an index from 0 to {self._count - 1}{hint}")

    def classes_of(self, names: str) -> tuple[int, ...]:
        """Return the classes of several names, any of which is right: `281|282|285`. Raises DataError."""
        return tuple(dict.fromkeys(map(self.class_of, names.split("|"))))


def _plain(name: str) -> str:
    return name.strip().casefold().replace("_", " ")
