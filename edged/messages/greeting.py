"""The first message of whoever comes to a hub: which edged it is of.

Two processes understand each other where their protocols are the same, of whatever version they are. A field may
be `IGNORABLE`, where whoever does not know it does nothing wrong: it leaves the protocol as it is, and an unknown
field is left unread. All else makes it another protocol, and the hub refuses who speaks it, with both versions.
"""

import json
from typing import Self

from pydantic import Field
from pydantic.config import JsonDict

from edged import __version__
from edged.messages.message import Message
from edged.messages.protocol import PROTOCOL

IGNORABLE: JsonDict = {"ignorable": True}
LARGEST_GREETING = 1 << 20  # bytes; labels are in it
WHAT_TO_DO = "install the same edged on both, and start both again"


class Greeting(Message):
    """`protocol`: what its sender speaks, a number in early versions. `edged`: its version, empty if unknown."""

    protocol: str | int = Field(PROTOCOL, json_schema_extra=IGNORABLE)
    edged: str = Field(__version__, json_schema_extra=IGNORABLE)

    def as_received(self) -> Self:
        """The same, without what its sender has not said."""
        unsaid = {"protocol": "", "edged": ""}.items() - {(name, "") for name in self.model_fields_set}
        return self.model_copy(update=dict(unsaid)) if unsaid else self


def protocol_problem(greeting: Greeting) -> str:
    """Why who says this is refused; empty where it speaks this edged's protocol."""
    return "" if greeting.protocol == PROTOCOL else _both(greeting.protocol, greeting.edged)


def versions_of(header: bytes) -> str:
    """The versions of both sides, where `header` is no message of this protocol; what there is of the other's."""
    try:
        fields = json.loads(header) if len(header) <= LARGEST_GREETING else None
    except (ValueError, RecursionError):
        fields = None
    known = fields if isinstance(fields, dict) else {}
    return _both(known.get("protocol", "unknown"), known.get("edged", ""))


def _both(protocol: object, version: object) -> str:
    theirs = _shown(version) or "of an unknown version"
    return (
        f"it is edged {theirs} (protocol {_shown(protocol) or 'unknown'}), this is edged {__version__} "
        f"(protocol {PROTOCOL}): {WHAT_TO_DO}"
    )


def _shown(value: object) -> str:
    text = str(value)[:20]
    return "".join(character if character.isprintable() else "?" for character in text)
