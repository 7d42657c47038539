"""Predictions on their way into a stream: how many at most, and up to which all have arrived."""

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from edged.bridge.jetstream import ACK_S, FleetStream
from edged.bridge.place import StreamPlace
from edged.bridge.subjects import Delivered
from edged.errors import ServerError

if TYPE_CHECKING:
    from nats.js.api import PubAck

WINDOW = 64  # messages without an acknowledgement


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and its acknowledgement to come; None: the stream held it before."""

    what: Delivered
    ack: "asyncio.Task[PubAck] | None"


class Delivery:
    """Sends predictions in order, and advances the place as they are acknowledged."""

    def __init__(self, stream: FleetStream, place: StreamPlace, behind: set[str]) -> None:
        """`behind`: identities of messages that the stream holds behind `place`."""
        self._stream, self._behind = stream, behind
        self._sent: deque[Sent] = deque()
        self._confirmed = 0
        self.place = place

    async def put(self, what: Delivered) -> None:
        """Send a message, as soon as there is room. Raises what `settle` raises."""
        while len(self._sent) >= WINDOW:
            await self._oldest()
        is_held = what.message.identity in self._behind
        ack = None if is_held else self._stream.publish(what.message, self.place)
        self._sent.append(Sent(what, ack))

    async def settle(self) -> None:
        """Advance over all that is acknowledged. Raises ServerError for an overdue answer, nats.errors.Error."""
        while self._sent and self._is_done(self._sent[0]):
            await self._oldest()

    def close(self) -> None:
        """Give up what is not acknowledged; the next connection reads in the stream what has arrived."""
        for sent in self._sent:
            if sent.ack:
                sent.ack.cancel()
                sent.ack.add_done_callback(_retrieve)

    def _is_done(self, sent: Sent) -> bool:
        return sent.ack is None or sent.ack.done()

    async def _oldest(self) -> None:
        """Wait for the oldest acknowledgement, and advance the place."""
        sent = self._sent[0]
        number = self.place.stream_seq
        if sent.ack:
            try:
                ack = await sent.ack
            except TimeoutError:
                raise ServerError(f"no acknowledgement within {ACK_S:g} s") from None
            # Messages of the connection before may still arrive, out of order: at most two windows of them
            number = ack.seq if self._confirmed > 2 * WINDOW else number
        self._sent.popleft()
        self._confirmed += 1
        self.place = replace(self.place, boot=sent.what.boot, seq=sent.what.seq, stream_seq=number)


def _retrieve(ack: "asyncio.Task[PubAck]") -> None:
    """Retrieve an error, which asyncio would report otherwise: a task may end by one although it was cancelled."""
    if not ack.cancelled():
        ack.exception()
