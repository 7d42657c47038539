"""Pictures whose boxes are known: a folder, and annotations in COCO's format (https://cocodataset.org/#format-data)."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path

import msgspec

from edged.errors import DataError
from edged.evaluation.pictures import ClassNames
from edged.model.package import numbered
from edged.pictures.decode import read_picture
from edged.pictures.folders import SUFFIXES, pictures_in
from edged.pictures.prepare import Pixels
from edged.system.files import read_regular_file, reading

MOST_BYTES = 2**30
BESIDE = ("_annotations.coco.json", "annotations.json")  # in a folder of pictures
ROUNDING = 1.0  # pixels by which a box may leave its picture
EXPECTED = "COCO's annotations: images, annotations and categories"

Size = tuple[int, int]  # width and height
Rectangle = tuple[float, float, float, float]  # left, top, width, height in pixels


@dataclass(frozen=True)
class TrueBox:
    """A box that is right. `index`: its class; `area`: in pixels, of the object where that is known.

    `is_crowd`: it surrounds many objects; to find it is neither right nor wrong.
    """

    index: int
    rectangle: Rectangle
    area: float
    is_crowd: bool = False


@dataclass(frozen=True)
class BoxPicture:
    """A picture with the boxes that are right for it. `size`: as annotated; None: whatever it has."""

    path: Path
    truths: tuple[TrueBox, ...] = ()
    size: Size | None = None
    upright: bool = True

    def pixels(self) -> Pixels:
        """Return it as uint8 [height, width, 3] RGB. Raises ImageError."""
        return read_picture(self.path, upright=self.upright)


@dataclass(frozen=True, eq=False)
class BoxPictures:
    """Pictures in a fixed order. `fingerprint`: changes with the files. `annotations`: their file, or None.

    missing: names of annotated pictures that are not in the folder.
    """

    pictures: tuple[BoxPicture, ...]
    fingerprint: str
    annotations: Path | None = None
    missing: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pictures)


class CocoImage(msgspec.Struct):
    """A picture of the file."""

    id: int
    file_name: str
    width: int
    height: int


class CocoCategory(msgspec.Struct):
    """A category of the file; ids need not follow each other."""

    id: int
    name: str


class CocoAnnotation(msgspec.Struct):
    """A box of the file: left, top, width and height in pixels."""

    id: int
    image_id: int
    category_id: int
    bbox: Rectangle
    area: float | None = None
    iscrowd: int = 0


class CocoFile(msgspec.Struct):
    """What edged reads of a file."""

    images: list[CocoImage]
    annotations: list[CocoAnnotation]
    categories: list[CocoCategory]


def annotations_beside(folder: Path) -> Path | None:
    """Return the annotations of a folder where datasets have them; None if there are none.

    Those of Roboflow are in the folder, those of COCO beside the folder NAME: `annotations/instances_NAME.json`.
    """
    whole = folder.absolute()
    places = [*(whole / name for name in BESIDE), whole.parent / "annotations" / f"instances_{whole.name}.json"]
    return next((path for path in places if path.is_file()), None)


def plain_pictures(folder: Path, most: int | None, *, upright: bool = True) -> BoxPictures:
    """Return the pictures of a folder, at most so many, evenly spaced, of which no boxes are known.

    Raises DataError, ImageError.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; expected one with pictures")
    files = pictures_in(folder)
    if not files:
        raise DataError(f"{folder}: holds no pictures; expected {', '.join(sorted(SUFFIXES))}")
    pictures = [BoxPicture(file, upright=upright) for file in files]
    return _as_pictures(evenly_spaced(pictures, most))


def annotated_pictures(
    folder: Path, annotations: Path, labels: Sequence[str], most: int | None, *, upright: bool = True
) -> BoxPictures:
    """Return the pictures of a folder that `annotations` lists, at most so many, evenly spaced, with their boxes.

    labels: of the model, by class. Raises DataError, which names the file, the place and what was expected.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; expected the pictures of {annotations}")
    content = read_coco(annotations)
    truths = _truths(annotations, content, labels)
    files = {image.id: _file_of(folder, image.file_name) for image in content.images}
    pictures = [
        BoxPicture(file, tuple(truths[image.id]), (image.width, image.height), upright)
        for image in content.images
        if (file := files[image.id])
    ]
    missing = tuple(image.file_name for image in content.images if not files[image.id])
    if not pictures:
        raise DataError(f"{folder}: holds none of the pictures of {annotations}, such as {missing[0]}")
    return _as_pictures(evenly_spaced(pictures, most), annotations, missing)


def evenly_spaced(pictures: Sequence[BoxPicture], most: int | None) -> Sequence[BoxPicture]:
    """Return `most` of the pictures; all if there are not more."""
    if most is None or len(pictures) <= most:
        return pictures
    return [pictures[number * len(pictures) // most] for number in range(most)]


def read_coco(path: Path) -> CocoFile:
    """Read a file of annotations. Raises DataError."""
    with reading(path, DataError):
        content = read_regular_file(path, MOST_BYTES)
    try:
        found = msgspec.json.decode(content, type=CocoFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}; expected {EXPECTED}") from None
    if not found.images or not found.annotations:
        what = "images" if not found.images else "annotations"
        raise DataError(f"{path}: holds no {what}; expected {EXPECTED}")
    return found


def _truths(path: Path, content: CocoFile, labels: Sequence[str]) -> Mapping[int, list[TrueBox]]:
    """Return the boxes of each image, by its id. Raises DataError."""
    sizes = {image.id: (image.width, image.height) for image in content.images}
    classes = _classes(path, content, labels)
    truths: dict[int, list[TrueBox]] = defaultdict(list)
    for each in content.annotations:
        if each.image_id not in sizes:
            raise DataError(f"{path}: annotation {each.id} is of the image {each.image_id}, which is not listed")
        if problem := _why_not_within(each.bbox, sizes[each.image_id]):
            raise DataError(
                f"{path}: annotation {each.id}: {problem}; expected left, top, width, height in pixels"
            )
        area = each.bbox[2] * each.bbox[3] if each.area is None else each.area
        box = TrueBox(classes[each.category_id], each.bbox, area, bool(each.iscrowd))
        truths[each.image_id].append(box)
    return truths


def _classes(path: Path, content: CocoFile, labels: Sequence[str]) -> Mapping[int, int]:
    """Map the categories that boxes have to classes; of a model without labels, all in the order of their ids."""
    names = {category.id: category.name for category in content.categories}
    used = dict.fromkeys(each.category_id for each in content.annotations)
    if unknown := next((number for number in used if number not in names), None):
        raise DataError(f"{path}: an annotation has the category {unknown}, which is not listed")
    if tuple(labels) == numbered(len(labels)):
        if len(names) == len(labels):
            return {number: index for index, number in enumerate(sorted(names))}
        raise DataError(
            f"{path}: its {len(names)} categories have names, but the model has no labels for its {len(labels)} "
            "classes: give --labels FILE"
        )
    known = ClassNames(labels)
    try:
        return {number: known.class_of(names[number]) for number in used}
    except DataError as error:
        raise DataError(f"{path}: category {error}") from None


def _why_not_within(box: Rectangle, size: Size) -> str:
    """Say why this is no box of a picture; empty if it is one."""
    left, top, width, height = box
    if not all(map(isfinite, box)) or width < 0 or height < 0:
        return f"{list(box)} is no box"
    ends = left + width, top + height
    is_within = all(
        begin >= -ROUNDING and end <= side + ROUNDING
        for begin, end, side in zip((left, top), ends, size, strict=True)
    )
    return "" if is_within else f"the box {list(box)} leaves its picture of {size[0]}×{size[1]} pixels"


def _file_of(folder: Path, name: str) -> Path | None:
    """Return a picture by its path below the folder, or by its name alone: exports write other folders."""
    return next((path for path in (folder / name, folder / Path(name).name) if path.is_file()), None)


def _as_pictures(
    pictures: Sequence[BoxPicture], annotations: Path | None = None, missing: tuple[str, ...] = ()
) -> BoxPictures:
    digest = sha256()
    for each in pictures:
        status = each.path.stat()
        what = [str(each.path.absolute()), each.size, each.upright, status.st_size, status.st_mtime_ns]
        digest.update(json.dumps(what).encode())
    return BoxPictures(tuple(pictures), digest.hexdigest(), annotations, missing)
