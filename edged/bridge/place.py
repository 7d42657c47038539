"""How far a node's predictions are in a stream: in a file, and in the header of each message.

Messages are published before earlier ones are acknowledged, so a failure may leave holes before the newest one.
The place is the last prediction up to which there are none; what the stream holds behind it is read before more
is published.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from edged import __version__
from edged.system.files import replace_file

SCHEMA = 1  # of the file
MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """The last prediction that the stream has acknowledged with all before it; `seq` −1: none yet.

    `stream_seq`: a number in the stream behind which all later predictions stand.
    """

    boot: str = ""
    seq: int = -1
    stream_seq: int = 0

    def header(self) -> str:
        """Return it as a message's header."""
        return f"{self.boot}/{self.seq}/{self.stream_seq}"


def from_header(text: str) -> StreamPlace:
    """Parse `StreamPlace.header`. Raises ValueError."""
    boot, seq, stream_seq = text.rsplit("/", 2)
    return StreamPlace(boot, int(seq), int(stream_seq))


class PlaceFile:
    """The place of a node in one stream, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: tuple[str, StreamPlace] | None = None

    def read(self, stream: str) -> StreamPlace | None:
        """Return the place in `stream`, its name and birth; None if the file is of another, damaged or missing.

        One of a newer edged counts as missing: the stream itself is read then, which takes longer.
        """
        try:
            with self._path.open("rb") as file:
                kept = json.loads(file.read(MAX_BYTES))
            is_ours = kept["stream"] == stream and kept.get("schema", SCHEMA) <= SCHEMA
            return StreamPlace(**kept["place"]) if is_ours else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write(self, stream: str, place: StreamPlace) -> None:
        """Replace the file, unless it holds this place. Raises OSError."""
        if self._kept == (stream, place):
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replace_file(self._path, durable=False) as file:
            content = {"schema": SCHEMA, "edged": __version__, "stream": stream, "place": asdict(place)}
            file.write(json.dumps(content).encode())
        self._kept = (stream, place)
