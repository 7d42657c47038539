"""How quick a link is, with a worker behind it that takes its time."""

import time
from collections.abc import Sequence

from edged.hub.frames.queues import Pixels
from edged.messages import Echo, LinkMessage
from edged.split.measure import link_speed
from edged.split.workers import Team
from tests.cli.scripted import Says, ScriptedLinks, hello_of

S_PER_BYTE = 1e-7  # ten megabytes a second


def slow_echo(message: LinkMessage, payloads: Sequence[Pixels]) -> list[Says]:
    """One way takes time by its bytes; the other none."""
    assert isinstance(message, Echo)
    time.sleep(0.0005 + S_PER_BYTE * sum(len(payload) for payload in payloads))
    return [(Echo(reply_bytes=0), [memoryview(bytes(message.reply_bytes))])]


def test_both_ways_are_measured_and_what_carries_nothing() -> None:
    team = Team(ScriptedLinks({"a": slow_echo}), {}, print)
    team.hellos["a"] = hello_of("a")

    speed = link_speed(team, "a")

    assert speed.round_trip_s >= 0.0005
    assert speed.message_s >= 0.0005
    assert speed.out_s_per_byte > 2 * speed.back_s_per_byte
