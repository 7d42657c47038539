"""The bases of all messages and of the first one of each process, and the types of their fields.

Messages are msgspec structs: several are read and written for each frame, at a tenth of pydantic's cost. pydantic
reads the files that people write, since it reports all their errors at once.

Processes of the same protocol work together, whatever their versions are. An unknown field is ignored; a field
that old processes can safely ignore is marked `IGNORABLE`, and does not change the protocol. Any other change of a
message makes another protocol, and the hub refuses a process that speaks another one, with both versions.
"""

import json
import re
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta, Struct

from edged import __version__
from edged.messages.protocol import PROTOCOL

SCHEMA = 1
LARGEST = 2**63 - 1  # what SQLite and a subscriber in another language can hold

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Seconds = Annotated[float, Meta(ge=0)]
# raised for bytes that are not JSON, or not of the type that is read
INVALID_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

EnergyMethod = Literal["measured", "estimated", "none"]
IGNORABLE = {"ignorable": True}
LARGEST_GREETING = 1 << 20  # bytes; labels are in it
WHAT_TO_DO = "install the same edged on both, and start both again"


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


class Greeting(Message, frozen=True, kw_only=True):
    """The base of first messages."""

    protocol: Annotated[
        str | int,
        Meta(extra_json_schema=IGNORABLE, description="Protocol of the sender; a number in early versions"),
    ] = PROTOCOL
    edged: Annotated[
        str, Meta(extra_json_schema=IGNORABLE, description="Version of the sender; empty: unknown")
    ] = __version__

    def as_received(self, header: bytes | memoryview) -> Self:
        """Return a copy in which fields that the sender left out of `header` are empty, not our own values."""
        sender = msgspec.json.decode(header, type=_Sender)
        return msgspec.structs.replace(self, protocol=sender.protocol, edged=sender.edged)


class _Sender(Content, frozen=True):
    protocol: str | int = ""
    edged: str = ""


def protocol_problem(greeting: Greeting) -> str:
    """Return why the sender must be refused; empty if it speaks our protocol."""
    return "" if greeting.protocol == PROTOCOL else _version_conflict(greeting.protocol, greeting.edged)


def versions_of(header: bytes) -> str:
    """Describe the versions of both sides, for a `header` that is not a message of our protocol."""
    try:
        fields = json.loads(header) if len(header) <= LARGEST_GREETING else None
    except (ValueError, RecursionError):
        fields = None
    known = fields if isinstance(fields, dict) else {}
    return _version_conflict(known.get("protocol", "unknown"), known.get("edged", ""))


def _version_conflict(protocol: object, version: object) -> str:
    theirs = _shown(version) or "of an unknown version"
    return (
        f"it is edged {theirs} (protocol {_shown(protocol) or 'unknown'}), this is edged {__version__} "
        f"(protocol {PROTOCOL}): {WHAT_TO_DO}"
    )


def _shown(value: object) -> str:
    text = str(value)[:20]
    return "".join(character if character.isprintable() else "?" for character in text)
