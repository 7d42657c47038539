"""The live stream of a hub, made whole: each prediction exactly once and in order."""

import logging
import time
from collections.abc import Generator, Iterator

from edged.client.complaint import Complaint
from edged.client.received import Arrival
from edged.client.replay import fetch, next_port, same_host
from edged.client.sequence import Sequence
from edged.client.subscription import Subscription
from edged.clock import wall_s
from edged.connect import Context, Curve
from edged.errors import MessageError
from edged.messages import ReplayRequest, Status

log = logging.getLogger("edged.client")

TICK_MS = 100
AFTER_CUT_S = 0.2  # until the next connection, where the hub has closed one: it may have too many just now
FETCH_AGAIN_S = 1.0  # meanwhile what comes is read: it may tell that the hub answers elsewhere now


class Stream:
    """Subscribes to every prediction of a hub: the numbers count all cameras together, so a gap shows only there.

    ZeroMQ's PUB drops what a slow subscriber does not take; this class sees the gap in the numbers, in the next
    prediction or in the status of each second, and fetches it from the journal. Until it has it, or the hub says
    that it is gone, it hands out nothing newer: what comes meanwhile is let go, and fetched with the rest.
    """

    def __init__(
        self,
        context: Context,
        address: str,
        *,
        replay: str | None = None,
        node: str | None = None,
        since_s: float | None = None,
        curve: Curve | None = None,
    ) -> None:
        """`address`: of the stream. `replay`: where to fetch; default: what the hub says, or the next port.

        `since_s`: begin with what was published so many seconds ago. `curve`: our keys, where there are any.
        """
        self.replay = replay or next_port(address)
        self._learn_replay = replay is None
        self._context = context
        self._address = address
        self._since = None if since_s is None else wall_s() - since_s
        self._nodes: dict[str, Sequence] = {}
        self._curve = curve
        self._unanswered = Complaint()
        self._fetch_at_s = 0.0
        self._arrivals: Generator[Arrival | None, None, None] | None = None
        topic = f"edged/{node}/" if node else "edged/"
        self._subscription = Subscription(context, address, topic=topic, curve=curve)

    def close(self) -> None:
        """Disconnect, also from where `arrivals` was fetching something."""
        if self._arrivals:
            self._arrivals.close()
        self._subscription.close()

    def arrivals(self) -> Iterator[Arrival | None]:
        """Predictions for ever; None now and then while there are none, so that the caller can look at the clock.

        What no edged of this schema has sent is left out, and told.
        """
        self._arrivals = self._receive()
        return self._arrivals

    def _receive(self) -> Generator[Arrival | None, None, None]:
        while True:
            match self._subscription.receive(TICK_MS):
                case Arrival() as arrival:
                    yield from self._prediction(arrival)
                case Status() as status:
                    yield from self._status(status)
                    yield None
                case _:
                    yield None

    def _prediction(self, arrival: Arrival) -> Iterator[Arrival | None]:
        prediction = arrival.prediction
        sequence = self._nodes.setdefault(prediction.node, Sequence())
        if (sequence.last is None and self._since is not None) or not sequence.knows(prediction.boot):
            return  # the next status begins, and fetches this one too
        yield from self._fill(prediction.node, prediction.seq - 1)
        if sequence.is_next(prediction.seq):
            sequence.last = prediction.seq
            yield arrival

    def _status(self, status: Status) -> Iterator[Arrival | None]:
        if self._learn_replay:
            self.replay = same_host(self._address, status.replay)
        sequence = self._nodes.setdefault(status.node, Sequence())
        if sequence.begin(status.boot, status.first_seq):
            log.warning("%s has lost its journal and counts anew from %d", status.node, status.first_seq)
        if sequence.last is None:
            yield from self._begin(status, sequence)
        yield from self._fill(status.node, status.last_seq)

    def _begin(self, status: Status, sequence: Sequence) -> Iterator[Arrival | None]:
        if self._since is None:
            sequence.last = status.last_seq
            return
        request = ReplayRequest(since=self._since, last_seq=max(0, status.last_seq))
        if (yield from self._fetch(sequence, request)) is not None:
            sequence.last = max(status.last_seq, -1 if sequence.last is None else sequence.last)

    def _fill(self, node: str, newest: int) -> Iterator[Arrival | None]:
        """Fetch what is missing up to `newest`; what the hub has no more is lost, and told."""
        sequence = self._nodes[node]
        missing = sequence.missing(newest)
        if missing is None:
            return
        first, last = missing
        found = yield from self._fetch(sequence, ReplayRequest(first_seq=first, last_seq=last))
        if found is None:
            return
        if lost := last - first + 1 - found:
            log.warning(
                "%d predictions of %s (of %d to %d) are lost, or its journal was: it does not have them",
                lost,
                node,
                first,
                last,
            )
        sequence.last = last

    def _fetch(self, sequence: Sequence, request: ReplayRequest) -> Generator[Arrival | None, None, int | None]:
        """How many came; None where not all that there are did, and it must be tried again."""
        if time.monotonic() < self._fetch_at_s:
            return None
        found = 0
        try:
            for arrival in fetch(self._context, self.replay, request, self._curve):
                if arrival is None:
                    yield None
                elif sequence.is_new(arrival.prediction.seq):
                    sequence.last = arrival.prediction.seq
                    found += 1
                    yield arrival
        except (TimeoutError, ConnectionError, MessageError) as error:
            again_s = AFTER_CUT_S if isinstance(error, ConnectionError) else FETCH_AGAIN_S
            self._fetch_at_s = time.monotonic() + again_s
            self._unanswered.say(f"what was missed cannot be fetched yet, and is tried again: {error}")
            return None
        self._unanswered.settle()
        return found
