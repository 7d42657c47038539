"""Draw boxes with captions into a picture, and write a picture to a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2

from edged.errors import ImageError
from edged.pictures.placement import Rectangle
from edged.pictures.prepare import Pixels, Region, region_of
from edged.system.files import FOR_ALL, replace_file, writing
from edged.system.plain_text import printable

Color = tuple[int, int, int]

COLORS: tuple[Color, ...] = (  # far from each other, each with a contrast of at least 3 to black and to white
    (255, 51, 170),
    (0, 170, 0),
    (0, 153, 204),
    (221, 119, 0),
    (0, 68, 255),
    (85, 102, 34),
    (255, 17, 68),
    (204, 119, 119),
    (238, 0, 255),
    (153, 119, 221),
)
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
FONT = cv2.FONT_HERSHEY_SIMPLEX
LEAST, UNREADABLE = 0.3, 0.2  # scales of letters: of captions as a rule, and below which none is written
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


@dataclass(frozen=True)
class DrawnBox:
    """What to draw. `index`: of the class, which chooses the colour; `box`: left, top, right, bottom as shares."""

    caption: str
    index: int
    box: Region


@dataclass(frozen=True)
class Lettering:
    """A text as OpenCV draws it. `scale`: 1 for capitals of about 22 pixels."""

    text: str
    scale: float

    @property
    def thickness(self) -> int:
        """Return the width of its strokes in pixels."""
        return max(1, round(1.5 * self.scale))

    @property
    def size(self) -> tuple[int, int, int]:
        """Return the width, the height above the line and the depth below it, in pixels."""
        (width, height), depth = cv2.getTextSize(self.text, FONT, self.scale, self.thickness)
        return width, height, depth


def draw_boxes(picture: Pixels, boxes: Sequence[DrawnBox]) -> Pixels:
    """Return a copy of an RGB picture, uint8 [height, width, 3], with an outline and a caption for each box."""
    drawn = picture.copy()
    height, width = drawn.shape[:2]
    line = max(1, round((height + width) / 560))
    areas = [(each, _area(each.box, width, height)) for each in boxes]
    for each, area in areas:
        _outline(area.of(drawn), _color(each), line)
    for each, area in areas:  # above the lines of all boxes
        _write_caption(drawn, each, area, margin=line)
    return drawn


def write_picture(path: Path, picture: Pixels) -> None:
    """Write an RGB picture, uint8 [height, width, 3], in the format of the suffix. Raises ImageError."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ImageError(f"{path}: its format is not known: expected a name with {', '.join(SUFFIXES)}")
    content = _encoded(picture, suffix)
    if content is None:
        height, width = picture.shape[:2]
        raise ImageError(f"{path}: a picture of {width}×{height} pixels is too large for this format: use .png")
    with writing(path, ImageError), replace_file(path, FOR_ALL, durable=False) as file:
        file.write(content)


def _encoded(picture: Pixels, suffix: str) -> bytes | None:
    try:
        encoded, content = cv2.imencode(suffix, cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    except cv2.error:  # as some versions of OpenCV report what others return
        return None
    return content.tobytes() if encoded else None


def _area(box: Region, width: int, height: int) -> Rectangle:
    left, top, right, bottom = (min(max(side, 0.0), 1.0) for side in box)
    return region_of((left, top, right, bottom), width, height)


def _color(box: DrawnBox) -> Color:
    return COLORS[box.index % len(COLORS)]


def _outline(part: Pixels, color: Color, line: int) -> None:
    for edge in (part[:line], part[-line:], part[:, :line], part[:, -line:]):
        edge[:] = color


def _write_caption(drawn: Pixels, box: DrawnBox, area: Rectangle, margin: int) -> None:
    """Write above the area, or within it where no room is above; never beyond the picture."""
    height, width = drawn.shape[:2]
    text, color = _lettering(box.caption, width, height, margin), _color(box)
    if text is None:
        return
    letters, up, depth = text.size
    across, down = min(width, letters + 2 * margin), min(height, up + depth + margin)
    left = min(area.left, width - across)
    top = area.top - down if area.top >= down else min(area.top, height - down)
    Rectangle(left, top, across, down).of(drawn)[:] = color
    start = left + margin, top + margin + up
    cv2.putText(drawn, text.text, start, FONT, text.scale, _ink(color), text.thickness, cv2.LINE_AA)


def _lettering(caption: str, width: int, height: int, margin: int) -> Lettering | None:
    """Return the caption in a size for a picture of `width` × `height`; None where it would be unreadable."""
    # OpenCV 4 has ASCII alone, OpenCV 5 draws more: pictures of both look the same
    text = printable(caption).encode("ascii", "replace").decode()
    usual = Lettering(text, max(LEAST, (width + height) / 2200))
    across, up, depth = usual.size
    if not across:
        return None
    scale = usual.scale * min(1.0, (width - 2 * margin) / across, (height - margin) / (up + depth))
    return Lettering(text, scale) if scale >= UNREADABLE else None


def _ink(color: Color) -> Color:
    """Return black or white, whichever has the larger contrast to `color` (relative luminance of WCAG 2)."""
    luminance = sum(
        weight * (value / 255) ** 2.2 for weight, value in zip((0.2126, 0.7152, 0.0722), color, strict=True)
    )
    return BLACK if luminance > 0.179 else WHITE
