"""The link of a camera or worker to the hub of its host: it joins, sends large messages, and finds a new hub."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.messages import Echo, LinkMessage, decode
from edged.transport.hub_link import HubLink, open_hub_link
from tests.eventually import LIMIT_S, SILENCE_S, eventually
from tests.link_ends import HubEnd

LARGE = bytes(4_000_000)  # more than the kernel holds
MESSAGE = Echo(reply_bytes=0)


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"unix://{tmp_path}/hub"


@pytest.fixture
def hub(address: str) -> Iterator[HubEnd]:
    hub = HubEnd(address)
    yield hub
    hub.close()


@pytest.fixture
def link(address: str, hub: HubEnd) -> Iterator[HubLink]:
    link = open_hub_link("camera/yard", address, queued=2)
    yield link
    link.close()


def received(hub: HubEnd, link: HubLink) -> list[bytes]:
    """Return the hub's next message while the link waits, as its process does."""

    def parts() -> list[bytes] | None:
        link.wait(0.0)
        link.has_joined()
        return hub.receive(0)

    return eventually(parts) or []


def message_of(link: HubLink) -> LinkMessage:
    assert link.wait(LIMIT_S)
    parts = link.receive()
    assert parts
    return decode(parts[0])


def test_it_joins_once_with_its_name(hub: HubEnd, link: HubLink) -> None:
    assert link.wait(LIMIT_S)
    assert link.has_joined()
    assert not link.has_joined()
    assert link.send(MESSAGE)
    received(hub, link)
    assert hub.peer == "camera/yard"
    assert link.same_host


def test_a_message_that_the_kernel_cannot_hold_is_sent_while_the_link_waits(hub: HubEnd, link: HubLink) -> None:
    assert link.send(MESSAGE, [LARGE])
    assert received(hub, link)[1] == LARGE


def test_a_hub_that_does_not_read_leaves_no_room(hub: HubEnd, link: HubLink) -> None:
    while link.send(MESSAGE, [LARGE]):
        pass
    assert not link.has_room(SILENCE_S)

    for _ in range(2):
        received(hub, link)
    assert link.has_room(LIMIT_S)


def test_without_a_hub_messages_are_refused_until_one_is_there(address: str) -> None:
    link = open_hub_link("worker/w", address, queued=2)
    assert not link.wait(SILENCE_S)
    assert not link.has_joined()
    assert not link.send(MESSAGE)
    assert not link.has_room()

    hub = HubEnd(address)
    assert link.wait(LIMIT_S)
    assert link.has_joined()
    assert link.send(MESSAGE)
    link.close()
    hub.close()


def test_it_joins_the_hub_that_comes_after_the_last_one(address: str, hub: HubEnd, link: HubLink) -> None:
    assert link.has_joined()
    link.send(MESSAGE)
    received(hub, link)
    hub.close()
    next_hub = HubEnd(address)

    assert eventually(lambda: link.wait(LIMIT_S) and (link.receive() or link.has_joined()))
    link.send(MESSAGE)
    assert received(next_hub, link)
    next_hub.send(b'{"kind":"echo","reply_bytes":3}')
    assert message_of(link) == Echo(reply_bytes=3)
    next_hub.close()


def test_it_returns_for_a_watched_descriptor(hub: HubEnd, link: HubLink) -> None:
    assert link.has_joined()
    reading, writing = os.pipe()
    link.watch(reading)
    assert not link.wait(0.0)
    os.write(writing, b"x")
    assert link.wait(LIMIT_S)
    link.unwatch(reading)
    assert not link.wait(0.0)
    os.close(reading)
    os.close(writing)
