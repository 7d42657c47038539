"""The number of the protocol that edged's processes speak: a hash of all that may cross a link."""

import json
from hashlib import sha256
from typing import Any

from edged.messages.link import link_schema

DIGITS = 8
WORDS = {"title", "description"}  # for people
MODULE = '''"""Which protocol this edged speaks. Written by `make docs` from the messages: change those."""

PROTOCOL = "{}"
'''


def module() -> str:
    """Return the text of edged/messages/protocol.py."""
    return MODULE.format(fingerprint(link_schema()))


def fingerprint(schema: Any) -> str:
    """Another one wherever a message has another name, or a field another name, type, bound or default.

    Fields that are `ignorable` leave it as it is: a peer that does not know them may leave them unread.
    """
    text = json.dumps(_without_ignorable(schema), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:DIGITS]


def _without_ignorable(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_ignorable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _without_ignorable(value) for key, value in schema.items() if key not in WORDS}
    if isinstance(properties := schema.get("properties"), dict):  # whose keys are the names of fields
        found["properties"] = {
            name: _without_ignorable(field) for name, field in properties.items() if not field.get("ignorable")
        }
    return found
