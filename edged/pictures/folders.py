"""Find pictures in folders, and the labels that their sub-folders are named by."""

import os
from collections.abc import Iterator
from pathlib import Path

from edged.errors import ImageError
from edged.system.plain_text import plain

SUFFIXES = frozenset({".bmp", ".jfif", ".jpe", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})


def truth_of(picture: Path, folder: Path) -> str | None:
    """Return the name of the sub-folder of `folder` that holds the file, as plain text.

    None if it is in no sub-folder.
    """
    below = picture.relative_to(folder).parts
    return plain(below[0]) if len(below) > 1 else None


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder and its sub-folders, by name, as `files_below`; of another path: none.

    Raises ImageError for a folder that cannot be listed.
    """
    if not folder.is_dir():
        return []
    try:
        return sorted(folder / name for name in files_below(folder) if is_picture_name(name))
    except OSError as error:
        raise ImageError(f"{error.filename}: cannot be listed: {error.strerror}") from None


def is_picture_name(name: str) -> bool:
    """Return whether the suffix is that of a picture."""
    return os.path.splitext(name)[1].lower() in SUFFIXES


def files_below(root: Path, below: str = "", above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[str]:
    """Yield the names of files relative to `root`, sorted in each folder; hidden ones are left out, as in a shell.

    A link to a folder is followed, unless it leads to one that it is in. `above`: device and number of those.
    Raises OSError for a folder that cannot be listed.
    """
    status = os.stat(root / below)
    if (here := (status.st_dev, status.st_ino)) in above:
        return
    with os.scandir(root / below) as folder:
        found = sorted((entry.name, entry.is_dir()) for entry in folder if not entry.name.startswith("."))
    for name, is_folder in found:
        path = f"{below}/{name}" if below else name
        if is_folder:
            yield from files_below(root, path, above | {here})
        elif os.path.isfile(root / path):
            yield path
