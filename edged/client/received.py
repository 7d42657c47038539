"""What a subscriber hears."""

from dataclasses import dataclass

from pydantic import ValidationError

from edged.errors import MessageError
from edged.messages import Prediction, Status, prediction_from_json


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prediction, and the JSON that it came as."""

    prediction: Prediction
    json: bytes


def decoded(parts: list[bytes]) -> Arrival | Status | None:
    """A message of the stream; None for one that is of no use here. Raises MessageError."""
    if len(parts) != 2:
        raise MessageError(f"{len(parts)} parts in place of topic and JSON: is it edged?")
    topic, json = parts
    match topic.rpartition(b"/")[2]:
        case b"prediction":
            return Arrival(prediction_from_json(json), json)
        case b"status":
            return _status_from(json)
    return None


def _status_from(json: bytes) -> Status:
    try:
        return Status.model_validate_json(json)
    except ValidationError:
        raise MessageError("a status that does not fit the schema: another version of edged?") from None
