"""Record what the hub and its processes do, for one client at a time."""

import os
import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import randbits

from prometheus_client import Summary

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.frames.queues import Held, Pixels
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links, Received
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import (
    Forwarded,
    JobTimes,
    KernelCost,
    Layers,
    LinkMessage,
    ProfileRequest,
    RecorderHello,
    RecordingEnded,
    RecordingStarted,
    RecordRequest,
    TraceBatch,
    TraceRequest,
    encode,
)
from edged.transport.spans import Notebook

RENEWED_NS = NANOSECONDS  # so often every process is told to go on
LEAVE_S = 3.0  # and without it, it stops by itself
GONE_NS = 3 * NANOSECONDS  # who takes nothing for so long is dead, or as good as dead
LAST_WORDS_NS = NANOSECONDS  # what processes have for what they still have to tell
WAITING = 10_000  # messages for who has asked


@dataclass(eq=False)
class Recording:
    """`frames`: of which the layers are wanted, where they are the limit. Times are nanoseconds of one clock."""

    number: int
    asker: str
    layers: Layers
    until_ns: int
    sent_ns: int
    worker: str | None = None
    frames: int | None = None
    ending: RecordingEnded | None = None
    renewed_ns: int = 0
    _timed: int = 0
    _missed: int = 0
    _waiting: deque[tuple[LinkMessage, Sequence[Pixels]]] = field(default_factory=deque)
    _recorders: set[str] = field(default_factory=set)  # those that will have a last word

    def wants(self, peer: str) -> bool:
        """Whether it is of this camera, worker, or of the hub."""
        return self.worker is None or peer == f"worker/{self.worker}"

    def order(self) -> RecordRequest:
        """Return the request to send to the processes now."""
        for_s = 0.0 if self.ending else LEAVE_S
        return RecordRequest(recording=self.number, for_s=for_s, layers=self.layers)

    def put(self, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> None:
        """For who has asked, as soon as there is room."""
        if len(self._waiting) < WAITING:
            self._waiting.append((message, payloads))
        else:
            self._missed += 1

    def flush(self, links: Links, now: int) -> bool:
        """Send as many messages as there is room for; False if the client is gone."""
        while self._waiting and links.send(self.asker, *self._waiting[0]):
            self._waiting.popleft()
            self.sent_ns = now
        if not self._waiting:
            self.sent_ns = now
        return now - self.sent_ns < GONE_NS

    def begins(self, peer: str) -> None:
        """A process records."""
        self._recorders.add(peer)

    def timed(self, frames: int) -> None:
        """The layers of so many more are known."""
        self._timed += frames

    def spoke_last(self, peer: str) -> None:
        """Nothing follows from this one."""
        self._recorders.discard(peer)

    def why_over(self, now: int, *, worker_is_lost: bool) -> RecordingEnded | None:
        """Whether there is enough, or no more to come."""
        if worker_is_lost:
            return RecordingEnded(reason="lost")
        if self.frames is not None and self._timed >= self.frames:
            return RecordingEnded(reason="frames")
        return RecordingEnded(reason="time") if now >= self.until_ns else None

    def end(self, ending: RecordingEnded, now: int) -> None:
        """The processes may say what they still know."""
        self.ending, self.until_ns = ending, now + LAST_WORDS_NS

    def is_told(self, now: int) -> bool:
        """Whether nobody has anything to say any more, or has had time enough."""
        return self.ending is not None and (now >= self.until_ns or not self._recorders)

    @property
    def last_word(self) -> RecordingEnded:
        """To who has asked."""
        return RecordingEnded(reason=self.ending.reason if self.ending else "time", missed=self._missed)


class LayerSeconds:
    """The metric is there only meanwhile: who looks later is not to take old figures for new ones."""

    def __init__(self, metric: Summary) -> None:
        self._metric = metric
        self._of_worker: dict[str, list[Summary]] = {}

    def are(self, worker: str, costs: Sequence[KernelCost]) -> None:
        """The kernels of a worker, in the order of its launches."""
        self._of_worker[worker] = [self._metric.labels(cost.operator, cost.kernel) for cost in costs]

    def add(self, worker: str, jobs: Sequence[JobTimes]) -> int:
        """What they took. Returns of how many frames the layers were timed."""
        timed = 0
        for job in jobs:
            kernels = job.device.kernels if job.device else ()
            timed += job.frames if kernels else 0
            for metric, (start_ns, end_ns) in zip(self._of_worker.get(worker, ()), kernels, strict=False):
                metric.observe((end_ns - start_ns) * 1e-9)
        return timed

    def forget(self) -> None:
        """It ends."""
        self._metric.clear()
        self._of_worker.clear()


NOTES = 100  # of the hub's own, in a message at least, but once a second
HUB = "hub"


def note_drop(notebook: Notebook, held: Held, reason: str) -> None:
    """Note a frame that the hub drops, while somebody records."""
    if notebook.is_open:
        frame = held.frame
        notebook.note("drop", now_ns(), frames=((frame.camera, frame.frame),), reason=reason)


class Recordings:
    """Records for one client. It costs nothing while nobody records (`is_active`)."""

    def __init__(
        self,
        links: Links,
        notebook: Notebook,
        router: Router,
        workers: Workers,
        supervisor: Supervisor,
        layer_seconds: Summary,
        node: str,
    ) -> None:
        self._links = links
        self._notebook = notebook
        self._router = router
        self._workers = workers
        self._supervisor = supervisor
        self._layers = LayerSeconds(layer_seconds)
        self._node = node
        self._now: Recording | None = None

    @property
    def is_active(self) -> bool:
        """Return whether somebody records."""
        return self._now is not None

    def start(self, asker: str, request: ProfileRequest | TraceRequest) -> None:
        """Begin to record for `asker`, or refuse with the reason."""
        worker = None
        if not (refused := self._busy()) and isinstance(request, ProfileRequest):
            worker, refused = self._worker_for(request.worker)
        begins = RecordingStarted(refused=refused, node=self._node, worker=worker)
        self._links.send(asker, begins)
        if not refused:
            self._begin(asker, request, worker)

    def stop(self, asker: str) -> None:
        """End the recording of a client that leaves before the end."""
        if self._now and self._now.asker == asker:
            self._stop()

    def collect(self, received: Received) -> None:
        """Pass on what a camera or a worker has recorded."""
        recording, message = self._now, received.message
        if recording is None or not recording.wants(received.peer):
            return
        if isinstance(message, RecorderHello):
            recording.begins(received.peer)
            self._layers.are(received.peer, message.costs)
        if isinstance(message, TraceBatch):
            recording.timed(self._layers.add(received.peer, message.jobs))
            if message.last:
                recording.spoke_last(received.peer)
        recording.put(Forwarded(peer=received.peer), [received.header])

    def step(self, now: int) -> None:
        """At each turn of the loop."""
        if (recording := self._now) is None:
            return
        if len(self._notebook) >= NOTES:
            self._tell_notes(recording)
        lost = recording.worker is not None and recording.worker not in self._workers.hellos
        if not recording.ending and (ending := recording.why_over(now, worker_is_lost=lost)):
            recording.end(ending, now)
            self._renew(recording, now)
        elif now >= recording.renewed_ns:
            self._renew(recording, now)
        if recording.is_told(now):
            self.close()
        elif not recording.flush(self._links, now):
            self._stop()

    def close(self) -> None:
        """Send the client the rest, and the end of the recording."""
        if recording := self._now:
            self._tell_notes(recording)
            recording.put(recording.last_word)
            recording.flush(self._links, now_ns())
            self._stop()

    def next_ns(self) -> int | None:
        """When `step` has something to do though nothing comes."""
        return min(self._now.renewed_ns, self._now.until_ns) if self._now else None

    def _busy(self) -> str:
        if self._now is None:
            return ""
        left_s = max(0, self._now.until_ns - now_ns()) / 1e9
        verb, _, pid = self._now.asker.partition("/")
        return f"edged {verb} (process {pid}) records here, for up to {left_s:.0f} s more: one at a time"

    def _worker_for(self, name: str | None) -> tuple[str | None, str]:
        """Whose kernels are wanted, or why there is none."""
        ready = self._workers.hellos
        there = f"there are: {', '.join(ready)}" if ready else "none is ready"
        if name is not None:
            return (name, "") if name in ready else (None, f"no worker {name} is ready; {there}")
        serving = [each for each in ready if each in self._supervisor.serving]
        if len(serving) == 1:
            return serving[0], ""
        return None, f"name one with --worker: {', '.join(serving)}" if serving else "no worker is ready"

    def _begin(self, asker: str, request: ProfileRequest | TraceRequest, worker: str | None) -> None:
        now = now_ns()
        until_ns, number = now + nanoseconds(request.seconds), randbits(48)
        if isinstance(request, ProfileRequest):
            self._now = Recording(number, asker, "half", until_ns, now, worker, request.frames)
        else:
            self._now = Recording(number, asker, "all" if request.layers else "none", until_ns, now)
            self._tell(self._now, RecorderHello(pid=os.getpid(), host=socket.gethostname()))
        for name, hello in self._workers.hellos.items():
            if self._now.wants(f"worker/{name}"):
                self._now.put(Forwarded(peer=f"worker/{name}"), [encode(hello)])

    def _renew(self, recording: Recording, now: int) -> None:
        """Each second: a process that has come meanwhile records too, and who has asked hears that we live."""
        recording.renewed_ns, order = now + RENEWED_NS, recording.order()
        peers = [f"camera/{name}" for name in self._router.cameras]
        peers += [f"worker/{name}" for name in self._workers.hellos]
        for peer in filter(recording.wants, peers):
            self._links.send(peer, order)
        if recording.wants(HUB):
            self._notebook.open(order.recording, order.for_s)
        self._tell_notes(recording)

    def _stop(self) -> None:
        if self._now and not self._now.ending:
            self._now.end(self._now.last_word, now_ns())
            self._renew(self._now, now_ns())
        self._now = None
        self._layers.forget()
        self._notebook.open(0, 0.0)

    def _tell_notes(self, recording: Recording) -> None:
        self._tell(recording, TraceBatch(spans=self._notebook.pop_spans()))

    def _tell(self, recording: Recording, message: LinkMessage) -> None:
        recording.put(Forwarded(peer=HUB), [encode(message)])
