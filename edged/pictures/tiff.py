"""The first directory of a TIFF file: the size of its picture, and what its fourth channel is.

Tags and their values: TIFF revision 6.0, 1992.
"""

import struct
from collections.abc import Iterator, Mapping

BEGINNINGS = (b"II*\0", b"MM\0*")
WIDTH, HEIGHT, EXTRA_SAMPLES = 256, 257, 338
SHORT = 3  # a value of 16 bits; the other ones read here have 32
UNSPECIFIED, MULTIPLIED, ALPHA = 0, 1, 2  # values of EXTRA_SAMPLES; MULTIPLIED: colours are multiplied by alpha


def size_of_tiff(content: bytes) -> tuple[int, int]:
    """Return width and height. Raises ValueError for a file without them, struct.error for one cut short."""
    values = _values(content)
    if not {WIDTH, HEIGHT} <= values.keys():
        raise ValueError("is a TIFF without a size")
    return values[WIDTH][1], values[HEIGHT][1]


def is_multiplied(content: bytes) -> bool:
    """Return whether the colours of a TIFF file are multiplied by its alpha."""
    return _extra(content) == MULTIPLIED


def without_alpha(content: bytes) -> bytes:
    """Return the file with its alpha declared as a channel of no meaning: libtiff multiplies colours by alpha."""
    if _extra(content) != ALPHA:
        return content
    offset, _ = _values(content)[EXTRA_SAMPLES]
    return b"".join([content[:offset], struct.pack(f"{_order(content)}H", UNSPECIFIED), content[offset + 2 :]])


def _extra(content: bytes) -> int | None:
    """Return the meaning of the first channel beside the colours, if there is one."""
    found = _values(content).get(EXTRA_SAMPLES)
    return found[1] if found else None


def _values(content: bytes) -> Mapping[int, tuple[int, int]]:
    """Return the place and the first value of the tags above that the first directory has."""
    return {
        tag: (offset, value) for tag, offset, value in _entries(content) if tag in {WIDTH, HEIGHT, EXTRA_SAMPLES}
    }


def _entries(content: bytes) -> Iterator[tuple[int, int, int]]:
    order = _order(content)
    (folder,) = struct.unpack_from(f"{order}I", content, 4)
    (entries,) = struct.unpack_from(f"{order}H", content, folder)
    for offset in range(folder + 2, folder + 2 + 12 * entries, 12):
        tag, kind = struct.unpack_from(f"{order}HH", content, offset)
        (value,) = struct.unpack_from(f"{order}H" if kind == SHORT else f"{order}I", content, offset + 8)
        yield tag, offset + 8, value


def _order(content: bytes) -> str:
    """Return the order of bytes as `struct` writes it."""
    return "<" if content.startswith(BEGINNINGS[0]) else ">"
