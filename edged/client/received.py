"""What a subscriber hears."""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from edged.errors import MessageError
from edged.messages import Event, Prediction, SnapshotHeader, Status, prediction_from_json


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prediction, and the JSON that it came as."""

    prediction: Prediction
    json: bytes


@dataclass(frozen=True, slots=True)
class Picture:
    """A snapshot of a frame, as JPEG."""

    header: SnapshotHeader
    jpeg: bytes


Heard = Arrival | Event | Status
Told = TypeVar("Told", Event, Status, SnapshotHeader)


def decoded(parts: list[bytes]) -> Heard | None:
    """A message of the stream; None for one that is of no use here. Raises MessageError."""
    if len(parts) != 2:
        raise MessageError(f"{len(parts)} parts in place of topic and JSON: is it edged?")
    topic, json = parts
    match topic.rpartition(b"/")[2]:
        case b"prediction":
            return Arrival(prediction_from_json(json), json)
        case b"event":
            return _told(Event, json)
        case b"status":
            return _told(Status, json)
    return None


def decoded_picture(parts: list[bytes]) -> Picture:
    """A message of the topics of snapshots. Raises MessageError."""
    if len(parts) != 3:
        raise MessageError(f"{len(parts)} parts in place of topic, JSON and JPEG: is it edged?")
    return Picture(_told(SnapshotHeader, parts[1]), parts[2])


def _told(kind: type[Told], json: bytes) -> Told:
    try:
        return kind.model_validate_json(json)
    except ValidationError:
        raise MessageError(
            f"{kind.__name__.lower()} that does not fit the schema: another version of edged?"
        ) from None
