"""Subscribing with asyncio, to several hubs at once."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import pytest

from edged.client import Prediction, Status, asynchronous
from edged.errors import ConfigError
from tests.client.hub_end import Addresses, HubEnd, a_hub
from tests.eventually import LIMIT_S, TURN_S, eventually, free_port, in_background

T = TypeVar("T")


async def first(count: int, stream: AsyncGenerator[T, None]) -> list[T]:
    """The first messages of a stream, which is closed then."""
    found: list[T] = []
    async with asyncio.timeout(LIMIT_S), aclosing(stream) as messages:
        async for each in messages:
            found.append(each)
            if len(found) == count:
                break
    return found


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("edged.client")]


def test_predictions_of_two_hubs_each_once_and_in_order(tmp_path: Path) -> None:
    one, two = Addresses(), Addresses()
    (tmp_path / "two").mkdir()
    with a_hub(tmp_path, one) as door, a_hub(tmp_path / "two", two) as gate:
        door.publish(30, sent=False)
        gate.publish(20, camera="gate", sent=False)

        def serve(stopped: threading.Event) -> None:
            while not stopped.wait(TURN_S):
                door.serve()
                gate.serve()

        with in_background(serve):
            found = asyncio.run(first(50, asynchronous.subscribe(one.stream, two.stream, since_s=60)))

    for camera, count in (("door", 30), ("gate", 20)):
        assert [each.seq for each in found if each.camera == camera] == list(range(count))
    assert threads() == []


def test_other_tasks_run_while_it_waits_and_a_cancellation_ends_its_threads() -> None:
    async def cancelled() -> int:
        ticks = 0
        waiting = asyncio.create_task(first(1, asynchronous.subscribe(f"tcp://127.0.0.1:{free_port()}")))
        while not threads():
            ticks += 1
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return ticks

    assert asyncio.run(cancelled()) > 0
    assert threads() == []


def test_a_program_that_is_slow_misses_nothing(tmp_path: Path) -> None:
    where, most = Addresses(), 3 * asynchronous.MOST_WAITING

    async def read_slowly(hub: HubEnd) -> list[int]:
        numbers: list[int] = []
        async with aclosing(asynchronous.subscribe(where.stream, since_s=60)) as stream:
            async for each in stream:
                if not numbers:  # nothing is read until all is published
                    await asyncio.to_thread(hub.publish, most)
                numbers.append(each.seq)
                if len(numbers) == most:
                    return numbers
        return numbers

    with a_hub(tmp_path, where) as hub:
        hub.publish()

        def serve(stopped: threading.Event) -> None:
            while not stopped.wait(TURN_S):
                hub.status()

        with in_background(serve):
            assert asyncio.run(read_slowly(hub)) == list(range(most))


def test_messages_of_every_kind(tmp_path: Path) -> None:
    where = Addresses()
    with a_hub(tmp_path, where) as hub:

        def publish(stopped: threading.Event) -> None:
            while not stopped.wait(TURN_S):
                hub.publish()
                hub.status()

        with in_background(publish):
            found = asyncio.run(first(20, asynchronous.listen(where.stream)))

    assert {type(each) for each in found} == {Prediction, Status}


def test_an_error_is_raised_where_the_program_iterates(tmp_path: Path) -> None:
    stream = asynchronous.subscribe(
        "tcp://127.0.0.1:5570", key=tmp_path / "none.key", server_key=tmp_path / "n.pub"
    )

    with pytest.raises(ConfigError, match="none"):
        asyncio.run(first(1, stream))
    eventually(lambda: threads() == [])
