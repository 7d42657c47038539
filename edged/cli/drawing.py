"""Write pictures with the boxes that were found in them: `edged predict --draw`."""

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from edged.errors import ConfigError
from edged.messages import Box
from edged.pictures.draw import SUFFIXES, DrawnBox, draw_boxes, write_picture
from edged.pictures.folders import is_picture_name
from edged.pictures.prepare import Pixels
from edged.system.files import writing


class Drawing:
    """Where pictures with boxes are written: the file of the only one, or a folder."""

    def __init__(self, target: Path, pictures: Sequence[Path]) -> None:
        """Take a folder, which is made, or a picture's name. Raises ConfigError for several into one picture."""
        self._target = target
        self._is_file = is_picture_name(target.name)
        self._written: set[str] = set()
        if self._is_file and (len(pictures) > 1 or pictures[0].is_dir()):
            raise ConfigError(f"--draw {target}: is one picture; for several ones expected a folder")
        if not self._is_file:
            with writing(f"--draw {target}"):
                target.mkdir(parents=True, exist_ok=True)

    def write(self, path: Path, picture: Pixels, boxes: Iterable[Box]) -> None:
        """Write a `picture` with these boxes, by the name of its file `path`. Raises ImageError."""
        drawn = [DrawnBox(f"{box.label} {box.score:.2f}", box.index, box.box) for box in boxes]
        target = self._target if self._is_file else self._target / self._new_name(path)
        write_picture(target, draw_boxes(picture, drawn))

    def _new_name(self, path: Path) -> str:
        """Return the picture's name, with a number if one of another folder has it, too."""
        suffix = path.suffix if path.suffix.lower() in SUFFIXES else ".png"
        names = (path.stem if number == 1 else f"{path.stem}-{number}" for number in count(1))
        name = next(f"{each}{suffix}" for each in names if f"{each}{suffix}" not in self._written)
        self._written.add(name)
        return name
