"""Split a stream of JPEGs, with or without the parts of `multipart`, into pictures.

The pictures' own markers decide: cameras write wrong boundaries and lengths, or leave them out. No library reads
multipart so leniently, and each delivers a part only when the next one begins.
"""

import re
import struct

START = b"\xff\xd8\xff"
END_MARKER = b"\xff\xd9"
MOST_BYTES = 2**26  # of one picture
HEADER_BYTES = 8192
_START_OF_PICTURE, _END, _ALONE = 0xD8, 0xD9, frozenset({0x01})
_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")  # not: scan data, restarts, padding
_LENGTH = re.compile(rb"(?i)content-length[ \t]*:[ \t]*(\d{1,9})")


class JpegSplitter:
    """Collects bytes in any pieces, and returns each picture as soon as its end is known."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._delimiter: re.Pattern[bytes] | None = None  # of the camera, whatever its header says
        self._scanned = 0  # place in a begun picture up to which no end was found; 0: none has begun
        self._length = 0  # of the begun picture, as its part says; 0: it does not
        self._has_ends = False  # a camera that writes end markers has cut a picture that has none
        self._lengths_hold = False
        self._endless = 0

    def add(self, data: bytes) -> None:
        self._bytes += data

    def next_picture(self) -> bytes | None:
        """Return the next picture that is complete, or cut by its sender; None if more data is needed.

        Raises ValueError for a picture that does not end.
        """
        if not self._scanned and not self._begin():
            return None
        ended = self._find_end()
        if ended is None:
            if len(self._bytes) > MOST_BYTES:
                raise ValueError(f"sends a picture of more than {MOST_BYTES // 2**20} MB")
            return None
        end, has_marker = ended
        content = bytes(self._bytes[:end])
        del self._bytes[:end]
        self._scanned = 0
        self._has_ends |= has_marker
        return content if has_marker else self._with_end(content)

    def _begin(self) -> bool:
        """Drop what is before a picture, and read what it says about the picture."""
        start = self._bytes.find(START)
        header = bytes(self._bytes[:start] if start >= 0 else self._bytes[-HEADER_BYTES:])
        if start < 0:
            self._bytes = bytearray(header)
            return False
        lines = header.split()
        if self._delimiter is None and lines:
            self._delimiter = re.compile(rb"\r?\n" + re.escape(lines[0]) + rb"(--)?[ \t]*\r?\n")
        lengths = _LENGTH.findall(header)
        self._length = int(lengths[-1]) if lengths else 0
        del self._bytes[:start]
        self._scanned = 2
        return True

    def _find_end(self) -> tuple[int, bool] | None:
        """Return where the picture ends, and whether by its own marker."""
        from_offset = self._scanned
        by_marker = self._walk()
        limit = by_marker[0] if by_marker else len(self._bytes)
        if self._delimiter and (found := self._delimiter.search(self._bytes, max(2, from_offset - 256), limit)):
            return found.start(), False
        if by_marker:
            return by_marker
        if self._lengths_hold and not self._has_ends and 0 < self._length <= len(self._bytes):
            return self._length, False
        return None

    def _walk(self) -> tuple[int, bool] | None:
        """Follow the markers to the end of the picture, or to the start of the next one."""
        while found := _MARKER.search(self._bytes, self._scanned):
            marker, after = self._bytes[found.end() - 1], found.end()
            if marker == _END:
                return after, True
            if marker == _START_OF_PICTURE:
                return found.start(), False
            if marker in _ALONE:
                self._scanned = after
                continue
            if after + 2 > len(self._bytes):
                self._scanned = found.start()
                return None
            (length,) = struct.unpack_from(">H", self._bytes, after)
            if after + length > len(self._bytes):
                self._scanned = found.start()
                return None
            self._scanned = after + max(2, length)
        self._scanned = max(self._scanned, len(self._bytes) - 1)
        return None

    def _with_end(self, content: bytes) -> bytes:
        """Complete the picture of a camera that never writes the end marker."""
        self._lengths_hold = self._length == len(content)
        self._endless += 1
        if self._has_ends or self._endless == 1:
            return content
        return content + END_MARKER
