"""What a subscriber hears."""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from edged.errors import MessageError
from edged.messages import Event, Prediction, Status, prediction_from_json


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prediction, and the JSON that it came as."""

    prediction: Prediction
    json: bytes


Heard = Arrival | Event | Status
Told = TypeVar("Told", Event, Status)


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


def _told(kind: type[Told], json: bytes) -> Told:
    try:
        return kind.model_validate_json(json)
    except ValidationError:
        raise MessageError(
            f"{kind.__name__.lower()} that does not fit the schema: another version of edged?"
        ) from None
