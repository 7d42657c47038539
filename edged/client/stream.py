"""The live stream of a hub without gaps: each prediction exactly once and in order.

Missing sequence numbers are fetched from the node's journal before anything newer is delivered.
"""

import logging
import time
from collections.abc import Generator, Iterator

from edged.client.replay import Lost, fetch_pages, next_port, same_host
from edged.client.subscription import Arrival, Complaint, Subscription
from edged.clock import wall_s
from edged.errors import MessageError
from edged.messages import ReplayRequest, Status
from edged.transport.client_socket import Context, Curve

log = logging.getLogger("edged.client")

TICK_MS = 100
AFTER_CUT_S = 0.2  # before the next connection if the hub has closed one: it may have too many at the moment
FETCH_AGAIN_S = 1.0  # messages are still read meanwhile: they may announce another replay address


class Sequence:
    """The sequence numbers of one node, which grow by one per prediction, across restarts.

    `last`: all numbers up to here were delivered or are lost for good; None before the first message.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self._boot: str | None = None

    @property
    def boot(self) -> str:
        """Return the start that is followed; empty before the first message."""
        return self._boot or ""

    def follow(self, boot: str, seq: int) -> None:
        """Continue after a number of an earlier start; an empty `boot` and −1: from the first number on."""
        self._boot, self.last = boot or None, seq

    def knows(self, boot: str) -> bool:
        """Return whether these numbers belong to the start that is followed: the first one, or one that began."""
        self._boot = self._boot or boot
        return boot == self._boot

    def begin(self, boot: str, first_seq: int) -> bool:
        """Record that the node's present start counts from `first_seq`.

        Returns True if that number was used before: the node has lost its journal, or the end of it.
        """
        rewound = not self.knows(boot) and self.last is not None and self.last >= first_seq
        if rewound:
            self.last = first_seq - 1
        self._boot = boot
        return rewound

    def missing(self, seq: int) -> tuple[int, int] | None:
        """Return the first and last number up to `seq` that were not delivered."""
        return None if self.last is None or seq <= self.last else (self.last + 1, seq)

    def is_next(self, seq: int) -> bool:
        """Return whether `seq` is the next number to deliver."""
        return self.last is None or seq == self.last + 1

    def is_new(self, seq: int) -> bool:
        """Return whether `seq` was not delivered yet."""
        return self.last is None or seq > self.last


class PredictionStream:
    """Subscribes to every prediction of a hub.

    The numbers count all cameras together, so a gap shows only there. ZeroMQ's PUB drops messages for a slow
    subscriber; this class detects the gap by the numbers, in the next prediction or in the status of each second,
    and fetches the missing ones from the journal. Until it has them, or the hub reports that they are gone, it
    delivers nothing newer: newer predictions are dropped, and fetched with the rest.
    """

    def __init__(
        self,
        context: Context,
        address: str,
        *,
        replay: str | None = None,
        node: str | None = None,
        since_s: float | None = None,
        after: tuple[str, int] | None = None,
        curve: Curve | None = None,
    ) -> None:
        """`address`: of the stream. `replay`: where to fetch; default: as the hub announces, or the next port.

        `since_s`: begin with predictions of so many seconds ago. `after`: boot and number of the last
        prediction of `node` that is known; an empty boot and −1: begin with the oldest in the journal. `curve`:
        our keys, if the hub requires them.
        """
        self.replay = replay or next_port(address)
        self._learn_replay = replay is None
        self._context = context
        self._address = address
        self._since = None if since_s is None else wall_s() - since_s
        self._nodes: dict[str, Sequence] = {}
        if node and after:
            self._nodes.setdefault(node, Sequence()).follow(*after)
        self.cameras: dict[str, tuple[str, ...]] = {}  # of each node, as its last status lists them
        self._curve = curve
        self._unanswered = Complaint()
        self._fetch_at_s = 0.0
        self._arrivals: Generator[Arrival | Lost | None, None, None] | None = None
        topic = f"edged/{node}/" if node else "edged/"
        self._subscription = Subscription(context, address, topic=topic, curve=curve)

    def close(self) -> None:
        """Disconnect, also while `arrivals` is fetching."""
        if self._arrivals:
            self._arrivals.close()
        self._subscription.close()

    def arrivals(self) -> Iterator[Arrival | None]:
        """Yield predictions for ever, and None from time to time while there are none.

        The None lets the caller check the time.

        Invalid messages are skipped and logged.
        """
        return (each if isinstance(each, Arrival) else None for each in self.arrivals_and_losses())

    def arrivals_and_losses(self) -> Iterator[Arrival | Lost | None]:
        """Yield the same, and what the journal no longer holds, each in its place."""
        self._arrivals = self._receive()
        return self._arrivals

    def _receive(self) -> Generator[Arrival | Lost | None, None, None]:
        while True:
            match self._subscription.receive(TICK_MS):
                case Arrival() as arrival:
                    yield from self._prediction(arrival)
                case Status() as status:
                    yield from self._status(status)
                    yield None
                case _:
                    yield None

    def _prediction(self, arrival: Arrival) -> Iterator[Arrival | Lost | None]:
        prediction = arrival.prediction
        sequence = self._nodes.setdefault(prediction.node, Sequence())
        if (sequence.last is None and self._since is not None) or not sequence.knows(prediction.boot):
            return  # the next status begins the sequence, and fetches this prediction too
        yield from self._fill(prediction.node, prediction.seq - 1)
        if sequence.is_next(prediction.seq):
            sequence.last = prediction.seq
            yield arrival

    def _status(self, status: Status) -> Iterator[Arrival | Lost | None]:
        self.cameras[status.node] = tuple(status.camera_states)
        if self._learn_replay:
            self.replay = same_host(self._address, status.replay)
        sequence = self._nodes.setdefault(status.node, Sequence())
        if sequence.begin(status.boot, status.first_seq):
            log.warning("%s has lost its journal and counts anew from %d", status.node, status.first_seq)
        if sequence.last is None:
            yield from self._begin(status, sequence)
        yield from self._fill(status.node, status.last_seq)

    def _begin(self, status: Status, sequence: Sequence) -> Iterator[Arrival | Lost | None]:
        if self._since is None:
            sequence.last = status.last_seq
            return
        request = ReplayRequest(since=self._since, last_seq=max(0, status.last_seq))
        if (yield from self._fetch(sequence, request, status.node)) is not None:
            sequence.last = max(status.last_seq, -1 if sequence.last is None else sequence.last)

    def _fill(self, node: str, newest: int) -> Iterator[Arrival | Lost | None]:
        """Fetch what is missing up to `newest`; predictions that the hub no longer has are reported as lost."""
        sequence = self._nodes[node]
        missing = sequence.missing(newest)
        if missing is None:
            return
        first, last = missing
        found = yield from self._fetch(sequence, ReplayRequest(first_seq=first, last_seq=last), node)
        if found is None:
            return
        if lost := last - first + 1 - found:
            log.warning(
                "%d predictions of %s (numbers %d to %d) are lost: its journal does not hold them",
                lost,
                node,
                first,
                last,
            )
        sequence.last = last

    def _fetch(
        self, sequence: Sequence, request: ReplayRequest, node: str
    ) -> Generator[Arrival | Lost | None, None, int | None]:
        """Fetch, and return how many numbers are accounted for; None: fetch again, some are still missing."""
        if time.monotonic() < self._fetch_at_s:
            return None
        found = 0
        try:
            for page in fetch_pages(self._context, self.replay, request, self._curve):
                if page is None:
                    yield None
                    continue
                found += page.withdrawn
                for each in page.in_order(node, sequence.boot):
                    if isinstance(each, Lost):
                        yield each
                    elif sequence.is_new(each.prediction.seq):
                        sequence.last = each.prediction.seq
                        found += 1
                        yield each
                if page.last is not None:
                    sequence.last = max(page.last, -1 if sequence.last is None else sequence.last)
        except (TimeoutError, ConnectionError, MessageError) as error:
            again_s = AFTER_CUT_S if isinstance(error, ConnectionError) else FETCH_AGAIN_S
            self._fetch_at_s = time.monotonic() + again_s
            self._unanswered.say(f"missed predictions cannot be fetched yet; trying again: {error}")
            return None
        self._unanswered.settle()
        return found
