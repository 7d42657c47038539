"""Which processes understand each other, and what is said where they do not."""

import json
from typing import Any

import msgspec
import pytest

from edged import __version__
from edged.errors import MessageError
from edged.messages import (
    PROTOCOL,
    CameraHello,
    ReloadRequest,
    decode,
    encode,
    protocol_problem,
)
from edged.messages.link import link_schema
from tests.hub.frames import hello_of
from tools.protocol import fingerprint

OURS = f"this is edged {__version__} (protocol {PROTOCOL}): install the same edged on both, and start both again"
HELLO = json.loads(encode(hello_of("door")))


def schema_with(change: Any) -> dict[str, Any]:
    """That of the wire, after a change of one camera's greeting."""
    schema = link_schema()
    change(schema["$defs"]["CameraHello"])
    return schema


def test_the_number_is_that_of_the_messages() -> None:
    assert fingerprint(link_schema()) == PROTOCOL, "run: make docs"


@pytest.mark.parametrize("change", [
    lambda hello: hello["properties"].update(zoom={"type": "integer"}),
    lambda hello: hello["properties"].pop("awaits_grants"),
    lambda hello: hello["properties"]["awaits_grants"].update(default=True),
    lambda hello: hello["required"].append("awaits_grants"),
    lambda hello: hello["properties"]["camera"].update(type="integer"),
], ids=["a field more", "a field less", "another default", "required now", "another type"])  # fmt: skip
def test_another_message_is_another_protocol(change: Any) -> None:
    assert fingerprint(schema_with(change)) != PROTOCOL


@pytest.mark.parametrize("change", [
    lambda hello: hello.update(description="In other words."),
    lambda hello: hello["properties"].update(zoom={"type": "integer", "ignorable": True}),
], ids=["other words", "a field that may be left unread"])  # fmt: skip
def test_what_an_older_peer_may_ignore_leaves_the_protocol_as_it_is(change: Any) -> None:
    assert fingerprint(schema_with(change)) == PROTOCOL


def test_a_greeting_says_protocol_and_version() -> None:
    assert (HELLO["protocol"], HELLO["edged"]) == (PROTOCOL, __version__)
    assert protocol_problem(ReloadRequest()) == ""


def test_a_newer_edged_of_the_same_protocol_is_taken_and_what_is_unknown_left_unread() -> None:
    message = decode(json.dumps({**HELLO, "edged": "9.9", "zoom": 2}).encode())
    assert isinstance(message, CameraHello)
    assert msgspec.structs.replace(message, edged=__version__) == hello_of("door")
    assert protocol_problem(message) == ""


@pytest.mark.parametrize(("changes", "theirs"), [
    ({"protocol": "12345678", "edged": "9.9"}, "it is edged 9.9 (protocol 12345678)"),
    ({"protocol": 1, "edged": None}, "it is edged of an unknown version (protocol 1)"),
    ({"protocol": None, "edged": None}, "it is edged of an unknown version (protocol unknown)"),
    ({"protocol": "\u001b[31m", "edged": "9" * 50}, f"it is edged {'9' * 20} (protocol ?[31m)"),
])  # fmt: skip
def test_another_protocol_is_refused_with_both_versions(changes: dict[str, Any], theirs: str) -> None:
    fields = {key: value for key, value in (HELLO | changes).items() if value is not None}
    message = decode(json.dumps(fields).encode())
    assert isinstance(message, CameraHello)
    assert protocol_problem(message) == f"{theirs}, {OURS}"


def test_a_greeting_without_what_is_required_is_refused_with_both_versions_too() -> None:
    hello = {"kind": "worker_hello", "protocol": 1, "worker": "local-0"}
    with pytest.raises(MessageError) as raised:
        decode(json.dumps(hello).encode())
    assert "required field `device`" in str(raised.value)
    assert str(raised.value).endswith(f"it is edged of an unknown version (protocol 1), {OURS}")


def test_a_header_that_is_no_json_names_our_version() -> None:
    for header in (b"", b"[" * 100_000, b"1", b'"' + b"x" * 2_000_000 + b'"'):
        with pytest.raises(MessageError, match=PROTOCOL):
            decode(header)
