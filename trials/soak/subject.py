"""What a soaked daemon sees and computes: drawn digits, or photographs in which a detector finds objects."""

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import edged
from edged.config import ModelConfig
from edged.messages import Box
from edged.model.package import load_model
from edged.pictures.folders import pictures_in

Section = dict[str, Any]

DIGITS: Section = {"source": "synthetic:digits", "size": [160, 120], "fps": 15, "seed": 1}
PICTURES = 10
PICTURE_RATES = (3, 4, 5)  # a second: so many that a detector keeps up beside the other cameras
THRESHOLDS = (0.4, 0.5, 0.6)  # one of these after a reload
LOWER_HALF = [[0, 0.5], [1, 0.5], [1, 1], [0, 1]]


@dataclass(frozen=True)
class Subject:
    """Sections of the config: `door` and `yard` of two cameras, `model` and `states`.

    `boxes`: what a detector finds in each picture of the door, by its sub-folder, which predictions name as truth.
    """

    model: Section
    door: Section
    yard: Section
    states: Section = field(default_factory=dict)
    boxes: Mapping[str, Sequence[Box]] = field(default_factory=dict)

    def reloaded(self, config: Section, chance: random.Random) -> Section:
        """Return other sections, of the door, which starts again, and of the model if that is a detector."""
        door = config["cameras"]["door"]
        if not self.boxes:
            return {"cameras": {**config["cameras"], "door": {**door, "seed": chance.randint(1, 99)}}}
        rates = [each for each in PICTURE_RATES if each != door["fps"]]
        model = {
            **self.model,
            "threshold": chance.choice(THRESHOLDS),
            "boxes": {"track": chance.choice([True, False])},
        }
        return {"cameras": {**config["cameras"], "door": {**door, "fps": chance.choice(rates)}}, "model": model}


def digits() -> Subject:
    """Return the usual subject, whose network takes the least time."""
    return Subject(model={"name": "digits"}, door=DIGITS, yard={**DIGITS, "seed": 2})


def detector(model: Path, pictures: Path, folder: Path) -> Subject:
    """Return a detector of COCO's classes, with tracks and states, on the first pictures of a folder.

    They are copied to `folder`. Raises EdgedError if the network or a picture cannot be read.
    """
    section = {"path": str(model.resolve()), "threshold": min(THRESHOLDS), "boxes": {"track": True}}
    copies = list(islice(_copied(pictures, folder), PICTURES))
    with edged.Model(load_model(ModelConfig.model_validate(section)), "numpy") as reference:
        person = reference.labels[0]
        boxes = {copy.parent.name: reference.boxes(copy) for copy in copies}
    states = {
        "zones": {"below": LOWER_HALF},
        "present": {"visitor": {"labels": [person], "zone": "below", "of": 3}},
        "count": {"people": {"labels": [person], "of": 3}},
    }
    return Subject(
        model=section,
        door={"source": str(folder), "at_end": "loop", "fps": PICTURE_RATES[0], "frozen_s": 0},
        yard={**DIGITS, "seed": 2, "fps": 5},
        states={"door": states},
        boxes=boxes,
    )


def _copied(pictures: Path, folder: Path) -> Iterator[Path]:
    """Copy each picture to a sub-folder of its own."""
    for picture in pictures_in(pictures):
        copy = folder / picture.stem / picture.name
        copy.parent.mkdir(parents=True)
        shutil.copy(picture, copy)
        yield copy
