"""The base of all messages, and the types of their fields."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

SCHEMA = 1
LARGEST = 2**63 - 1  # what SQLite and a subscriber in another language can hold

Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Seconds = Annotated[float, Field(ge=0)]
EnergyMethod = Literal["measured", "estimated", "none"]


class Message(BaseModel):
    """The base of all messages: immutable; unknown fields are ignored (see `greeting`)."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


def field_errors(error: ValidationError) -> str:
    """Describe the first five fields that are invalid, and why."""
    problems: Sequence[str] = [
        f"{'.'.join(map(str, e['loc'])) or 'header'}: {e['msg']}" for e in error.errors()[:5]
    ]
    return "; ".join(problems)
