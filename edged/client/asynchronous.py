"""The same for programs with asyncio, and for several hubs at once: `subscribe` and `listen`.

Each hub is read by a thread of its own, which waits while the program is behind by 100 messages.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from edged.client.subscribe import Published, messages_or_none, predictions_or_none
from edged.messages import Prediction

MOST_WAITING = 100

T = TypeVar("T")
Source = Generator[T | None, None, None]


@dataclass(frozen=True, slots=True)
class _Failure:
    """The error that ended a source."""

    error: Exception


async def subscribe(
    *addresses: str,
    camera: str | None = None,
    since_s: float | None = None,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> AsyncGenerator[Prediction, None]:
    """Yield each prediction of the hubs at `addresses`, of each exactly once and in order.

    The arguments and errors are those of `edged.client.subscribe`; for a time limit there is `asyncio.timeout`.
    """
    sources = [
        predictions_or_none(each, camera=camera, since_s=since_s, key=key, server_key=server_key)
        for each in addresses
    ]
    async for prediction in _merged(sources):
        yield prediction


async def listen(
    *addresses: str,
    snapshots: bool = False,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> AsyncGenerator[Published, None]:
    """Yield each message of the hubs at `addresses` as it arrives.

    The arguments and errors are those of `edged.client.listen`.
    """
    sources: list[Source[Published]] = [
        messages_or_none(each, snapshots=snapshots, key=key, server_key=server_key) for each in addresses
    ]
    messages: AsyncGenerator[Published, None] = _merged(sources)
    async for message in messages:
        yield message


async def _merged(sources: Sequence[Source[T]]) -> AsyncGenerator[T, None]:
    """Yield what the sources yield, until one of them fails."""
    queue: asyncio.Queue[T | _Failure] = asyncio.Queue(MOST_WAITING)
    tasks = [asyncio.create_task(_read(source, queue)) for source in sources]
    try:
        while tasks:
            found = await queue.get()
            if isinstance(found, _Failure):
                raise found.error
            yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(source: Source[T], queue: "asyncio.Queue[T | _Failure]") -> None:
    """Put what a source yields into the queue, until it fails or this task is cancelled; then close it."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, "edged.client") as thread:  # sockets belong to the thread that made them
        try:
            while True:
                found = await loop.run_in_executor(thread, next, source)
                if found is not None:
                    await queue.put(found)
        except Exception as error:
            await queue.put(_Failure(error))
        finally:
            await loop.run_in_executor(thread, source.close)
