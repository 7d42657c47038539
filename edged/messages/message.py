"""The bases of all messages, and the types of their fields.

Messages are msgspec structs: several are read and written for each frame, at a tenth of pydantic's cost. pydantic
reads the files that people write, since it reports all their errors at once.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

SCHEMA = 1
LARGEST = 2**63 - 1  # what SQLite and a subscriber in another language can hold

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Seconds = Annotated[float, Meta(ge=0)]
# raised for bytes that are not JSON, or not of the type that is read
INVALID_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

EnergyMethod = Literal["measured", "estimated", "none"]


class Content(Struct, frozen=True, kw_only=True, gc=False):
    """The base of values within messages: immutable; unknown fields are ignored (see `greeting`).

    A value is checked when it is read from JSON, not when it is made.
    """


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Message(Content, frozen=True, kw_only=True, gc=False, tag_field="kind", tag=_snake_case):
    """The base of messages that a receiver tells apart by `kind`, the name of their type: `camera_report`."""

    @property
    def kind(self) -> str:
        """Return the name of the message's type in JSON."""
        return str(self.__struct_config__.tag)


def as_dict(content: Content) -> dict[str, Any]:
    """Return the fields, and those of values within them, as JSON has them, without `kind`."""
    fields: dict[str, Any] = msgspec.to_builtins(content)
    if content.__struct_config__.tag is not None:
        del fields["kind"]
    return fields
