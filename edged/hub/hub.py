"""The hub's main loop: one thread, one poller, over links, signals and timers."""

import logging
import math
import time
from collections.abc import Callable, Sequence

import zmq

from edged.clock import NANOSECONDS, now_ns
from edged.hub.control import ControlRequests
from edged.hub.events import HubEvent
from edged.hub.links.peers import Links
from edged.hub.links.received import CONTROL_ROLES, Received, Role
from edged.hub.pipeline import Pipeline
from edged.hub.signals import Signals
from edged.hub.stats.moments import LoopMetrics
from edged.hub.supervision import Supervision
from edged.messages import RecorderHello, TraceBatch
from edged.system import systemd

TICK_NS = NANOSECONDS
SETTLE_MS = 40  # until messages handed over to be sent are counted, if no frame of 30 a second comes before
MESSAGES_A_TURN = 256  # messages in a turn; then timers run, even under a flood
PAUSE_NS = NANOSECONDS // 2  # shorter delays are normal on a busy machine

HIGH = 800  # messages a second; about half of them are frames
SPAN_NS = NANOSECONDS // 20
GATHER_S = 0.001  # time in which the messages of one turn gather under load

log = logging.getLogger("edged.hub")


class Load:
    """Counts messages. `is_high`: as many came in the last `SPAN_NS` as make gathering pay.

    A turn of the loop costs most for fetching its code and its data into the processor's caches, which cameras and
    workers use between two turns. So under load one turn serves the messages of a millisecond; a hub with little
    to do delays nothing.
    """

    def __init__(self, now_ns: int) -> None:
        self.is_high = False
        self._since_ns = now_ns
        self._messages = 0

    def count(self, messages: int, now_ns: int) -> None:
        """Count the messages of a turn."""
        self._messages += messages
        span_ns = now_ns - self._since_ns
        if span_ns >= SPAN_NS:
            self.is_high = self._messages * NANOSECONDS >= HIGH * span_ns
            self._since_ns, self._messages = now_ns, 0


class Pause:
    """Detects that the hub itself has paused: stopped by a signal, or without processor time."""

    def __init__(self) -> None:
        self._due_ns = now_ns()

    def expect_wait(self, wait_ms: int) -> None:
        """Expect the loop to wait for so long at most."""
        self._due_ns = now_ns() + wait_ms * 1_000_000

    def late_ns(self) -> int:
        """Return how much later the loop continues than it should; 0 if that is little.

        Call it at each turn, after the wait and after the work.
        """
        now = now_ns()
        late_ns, self._due_ns = now - self._due_ns, now
        return late_ns if late_ns > PAUSE_NS else 0


class Hub:
    """The main loop: each turn waits, reads messages, moves frames on, and does what is due."""

    def __init__(
        self,
        links: Links,
        signals: Signals,
        metrics: LoopMetrics,
        pipeline: Pipeline,
        supervision: Supervision,
        control: ControlRequests,
        every_second: Sequence[Callable[[int], None]],
    ) -> None:
        """`every_second`: these are called once a second with the time, in their order."""
        self._links = links
        self._signals = signals
        self._metrics = metrics
        self._pipeline = pipeline
        self._publication = pipeline.publication
        self._router = pipeline.router
        self._supervision = supervision
        self._control = control
        self._every_second = every_second
        self._next_tick_ns = now_ns() + TICK_NS
        self._pause = Pause()
        self._load = Load(now_ns())

    def run(self) -> None:
        """Run until the end. Raises EdgedError if the hub cannot continue."""
        poller, signalled, scrape = zmq.Poller(), self._signals.fileno(), self._metrics.fileno()
        for readable in (*self._links.sockets, signalled, scrape):
            poller.register(readable, zmq.POLLIN)
        self._metrics.serve()
        while not self._is_over():
            ready = self._wait(poller)
            is_drained = self._receive_messages()
            for worker in self._pipeline.advance(gathers=self._load.is_high):
                self._supervision.kill_unreachable(worker)
            now = now_ns()
            for refusal in self._links.refusals():
                self._supervision.handle_events([refusal.notice()])
            if is_drained:
                self._kill_hung(now)
            if signalled in ready or now >= self._supervision.due_ns:
                self._supervise(now)
            if now >= self._next_tick_ns:
                self._tick(now)
            if self._control.is_active:
                self._supervision.handle_events(self._control.step(now))
            if scrape in ready:
                self._metrics.serve()

    def stop(self) -> None:
        """Stop every child; what waits or is in flight is dropped as `shutdown`."""
        systemd.stopping()
        self._publication.flush()
        self._control.close()
        self._links.shut()
        self._router.give_up_all("shutdown")
        self._supervision.stop_children(self._signals, self._receive_last)
        self._publication.close()
        self._metrics.stop_serving()

    def _wait(self, poller: zmq.Poller) -> dict[object, int]:
        wait_ms = self._wait_ms()
        self._notice_pause()
        self._pause.expect_wait(wait_ms)
        ready = dict(poller.poll(wait_ms))
        if self._load.is_high and not self._router.frames_wait:
            time.sleep(GATHER_S)
        self._notice_pause()
        return ready

    def _receive_messages(self) -> bool:
        """Dispatch the messages that have arrived; return False if there may be more."""
        for count in range(MESSAGES_A_TURN):
            received = self._links.receive()
            if received is None:
                self._load.count(count, now_ns())
                return True
            if events := self._dispatch(received):
                self._supervision.handle_events(events)
        self._load.count(MESSAGES_A_TURN, now_ns())
        return False

    def _dispatch(self, received: Received) -> list[HubEvent]:
        """Pass a message to the handler of its sender's role."""
        if received.role in CONTROL_ROLES:
            return self._control.handle_message(received)
        if isinstance(received.message, (RecorderHello, TraceBatch)):
            self._control.recordings.collect(received)
            return []
        return self._pipeline.receive_message(received, now_ns())

    def _receive_last(self, received: Received) -> None:
        """Handle a message after the end: frames are counted, answers are too late."""
        if received.role is Role.CAMERA:
            self._pipeline.receive_message(received, now_ns())
            self._router.give_up_all("shutdown")

    def _kill_hung(self, now: int) -> None:
        """Kill what hangs, but only after every message was read: an answer may be in the queue."""
        if self._router.has_suspect(now):
            self._supervision.kill_overdue_worker(now)
        if now >= self._supervision.silence_due_ns:
            self._supervision.kill_silent_cameras(now)

    def _supervise(self, now: int) -> None:
        """Supervise the children: after a signal (one may have ended), when one is due, and each second."""
        self._signals.clear()
        if self._signals.take_reload():
            self._control.reload()
        self._supervision.step(now)

    def _tick(self, now: int) -> None:
        self._next_tick_ns = max(self._next_tick_ns + TICK_NS, now)
        for task in self._every_second:
            task(now)

    def _wait_ms(self) -> int:
        due = [self._next_tick_ns, self._supervision.due_ns, self._supervision.silence_due_ns]
        requested_ns = self._control.next_ns() if self._control.is_active else None
        others = (self._router.next_due_ns(), self._publication.commit_due_ns, requested_ns)
        due += [at for at in others if at is not None]
        wait_ms = max(0, math.ceil((min(due) - now_ns()) / 1e6))
        return min(wait_ms, SETTLE_MS) if self._publication.unsettled else wait_ms

    def _notice_pause(self) -> None:
        if paused_ns := self._pause.late_ns():
            log.warning("the hub paused for %.1f s: it was stopped, or got no processor", paused_ns / NANOSECONDS)
            self._supervision.forgive_pause(paused_ns)

    def _is_over(self) -> bool:
        if self._signals.stops or (self._supervision.all_cameras_ended and self._router.idle):
            return True
        return self._publication.is_over(self._supervision.first_ready_ns)
