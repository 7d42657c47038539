"""Answers subscribers that missed something, from the journal."""

import logging
import sqlite3
import threading
from collections.abc import Callable

import zmq
from pydantic import ValidationError

from edged.hub.journal.failure import is_damage
from edged.hub.journal.reader import LAST, JournalReader
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import REPLAYER, bind
from edged.messages import ReplayAnswer, ReplayRequest

log = logging.getLogger("edged.hub")

ENDPOINT = "publish.replay"
QUEUED = 2  # requests and answers of one subscriber, which may be a megabyte each
LOOK_MS = 200  # how often to look whether to stop
STOP_S = 1.0
NOTHING = (  # where there is no journal: who asked must not wait for it
    ReplayAnswer(predictions=0, first_kept=None, last_kept=None, more=False).model_dump_json().encode()
)


class Replay:
    """A ROUTER socket and a thread of its own, so that live frames wait neither for it nor for its disk.

    What does not fit is not answered. `suspect` gets the inode of a journal that cannot be read.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        address: str,
        reader: JournalReader,
        suspect: Callable[[int], None],
        guard: Guard | None = None,
    ) -> None:
        """Raises ConfigError where the address cannot be used."""
        self.answered = 0
        self._socket = bind(context, zmq.ROUTER, ENDPOINT, address, QUEUED, guard, bounds=REPLAYER)
        self._guard = guard
        self._reader = reader
        self._suspect = suspect
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)
        self._thread.start()  # from here on the socket is the thread's

    def stop(self) -> None:
        """Answer no more; a disk that is stuck is not waited for."""
        self._stopping = True
        self._thread.join(STOP_S)

    def _run(self) -> None:
        try:
            while not self._stopping:
                if self._socket.poll(LOOK_MS):
                    self._serve()
            self._socket.close()
        except zmq.ZMQError as error:  # the hub did not wait for us
            log.debug("replay ends: %s", error)

    def _serve(self) -> None:
        peer, *parts = self._socket.recv_multipart(copy=False)
        inode = self._reader.inode()
        try:
            request = ReplayRequest.model_validate_json(b"".join(part.bytes for part in parts))
            answer = [NOTHING] if inode is None else _answer(self._reader, request)
            self._socket.send_multipart([peer, *answer], zmq.NOBLOCK)
            self.answered += 1
        except zmq.Again:
            log.debug("a subscriber that does not take its answers gets none")
        except ValidationError:
            if self._guard:
                self._guard.reject(ENDPOINT, peer)
        except sqlite3.Error as error:
            log.warning("the journal cannot answer a replay request: %s", error)
            if is_damage(error) and inode is not None:
                self._suspect(inode)


def _answer(reader: JournalReader, request: ReplayRequest) -> list[bytes]:
    first = min(request.first_seq or 0, LAST)
    last = None if request.last_seq is None else min(request.last_seq, LAST)
    page = reader.page(first, last, request.since, request.limit)
    answer = ReplayAnswer(
        predictions=len(page.predictions),
        first_kept=page.first_kept,
        last_kept=page.last_kept,
        more=page.next_seq is not None,
    )
    return [answer.model_dump_json().encode(), *page.predictions]
