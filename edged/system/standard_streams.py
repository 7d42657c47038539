"""Make standard output and error available in any case, in any encoding, and no cause of another exit code."""

import codecs
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

ESCAPED = "edged.escaped"  # `errors=` of a stream: characters missing in its encoding are written as JSON escapes


def open_standard_streams() -> None:
    """Reserve the descriptors 0 to 2, and make the streams able to write every text."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # `edged run >&-`: the next socket would be standard output, and get its lines
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=ESCAPED)


def encoder_of(stream: TextIO | None) -> Callable[[str], bytes]:
    """Return the function that encodes text for a stream."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return lambda text: text.encode(encoding, ESCAPED)


def flush_standard_output() -> None:
    """Write buffered output. Raises OSError."""
    if sys.stdout:
        sys.stdout.flush()


def discard_unwritten() -> None:
    """Drop output that cannot be written: Python would try again at the end, and exit with code 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Escape `°` as `\u00b0`: JSON stays valid."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = (text[at : at + 2].hex() for at in range(0, len(text), 2))
    return "".join(f"\\u{unit}" for unit in units), error.end
