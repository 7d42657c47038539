"""Answers subscribers that missed something, from the journal."""

import logging
import sqlite3

import zmq
from pydantic import ValidationError

from edged.hub.journal import Journal, Page
from edged.hub.sockets import bind
from edged.messages import ReplayAnswer, ReplayRequest

log = logging.getLogger("edged.hub")

QUEUED = 16  # requests and answers of one subscriber


class Replay:
    """A ROUTER socket. What does not fit is not answered."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, journal: Journal) -> None:
        """Raises ConfigError where the address cannot be used."""
        self.socket = bind(context, zmq.ROUTER, "publish.replay", address, QUEUED)
        self._journal = journal

    def serve_one(self) -> bool:
        """Whether a request was answered; one at a time, so that live frames never wait for more."""
        try:
            peer, *parts = self.socket.recv_multipart(zmq.NOBLOCK)
            request = ReplayRequest.model_validate_json(b"".join(parts))
            self.socket.send_multipart([peer, *_answer(self._journal, request)], zmq.NOBLOCK)
        except zmq.Again:
            return False
        except ValidationError:
            log.warning("a replay request that does not fit the schema is ignored")
        except sqlite3.Error as error:
            log.warning("the journal cannot answer a replay request: %s", error)
        else:
            return True
        return False


def _answer(journal: Journal, request: ReplayRequest) -> list[bytes]:
    page: Page = journal.page(request.first_seq or 0, request.last_seq, request.since, request.limit)
    first, last = journal.kept()
    answer = ReplayAnswer(predictions=len(page.predictions), first_kept=first, last_kept=last, more=page.more)
    return [answer.model_dump_json().encode(), *page.predictions]
