"""Write metadata into an ONNX file, and keep all other bytes.

The file is one protobuf message. Its fields are copied unread; only entries of `metadata_props` that change are
left out, and written at the end.
"""

from collections.abc import Iterator, Mapping

from onnx import ModelProto, StringStringEntryProto

from edged.errors import ModelError

METADATA = ModelProto.METADATA_PROPS_FIELD_NUMBER
VARINT, FIXED_64, TEXT, FIXED_32 = 0, 1, 2, 5  # protobuf's wire types


def with_properties(content: bytes, properties: Mapping[str, str], removed: frozenset[str]) -> Iterator[bytes]:
    """Yield the pieces of the file with these properties, and without those whose keys are `removed`.

    Raises ModelError for a file that is no protobuf message.
    """
    gone = removed | properties.keys()
    view = memoryview(content)
    for field, piece, value in _fields(view):
        if field != METADATA or StringStringEntryProto.FromString(bytes(value)).key not in gone:
            yield bytes(piece)
    for key, text in properties.items():
        entry = StringStringEntryProto(key=key, value=text).SerializeToString()
        yield _varint_bytes(METADATA << 3 | TEXT) + _varint_bytes(len(entry)) + entry


def _fields(view: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Yield each field's number, all of its bytes, and its value."""
    offset = 0
    while offset < len(view):
        tag, begin = _varint(view, offset)
        kind = tag & 7
        if kind == TEXT:
            size, begin = _varint(view, begin)
            end = begin + size
        elif kind == VARINT:
            _, end = _varint(view, begin)
        elif kind in {FIXED_64, FIXED_32}:
            end = begin + (8 if kind == FIXED_64 else 4)
        else:
            raise ModelError(f"is damaged: byte {offset} begins no field of an ONNX file")
        if end > len(view):
            raise ModelError(f"is cut short: a field at byte {offset} goes on beyond the end")
        yield tag >> 3, view[offset:end], view[begin:end]
        offset = end


def _varint(view: memoryview, offset: int) -> tuple[int, int]:
    """Return a number of 7 bits per byte, the lowest first, and the position after it."""
    number = 0
    for index, byte in enumerate(view[offset : offset + 10]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return number, offset + index + 1
    raise ModelError(f"is damaged: byte {offset} begins no number")


def _varint_bytes(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F)
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
