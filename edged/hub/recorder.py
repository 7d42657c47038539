"""Record what the hub and its processes do, for one client at a time."""

import os
import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import randbits

from prometheus_client import Summary

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.client_session import ClientSession
from edged.hub.frames.queues import Held, Pixels
from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.node import Node
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

RENEWED_NS = NANOSECONDS  # every process gets this often a request to continue
LEAVE_S = 3.0  # without that, it stops by itself
FLUSH_NS = NANOSECONDS  # time in which processes send their last batches
WAITING = 10_000  # messages queued for the client


@dataclass(eq=False, kw_only=True)
class Recording(ClientSession):
    """A recording for one client. `frames`: number of frames whose layers are timed, if that is the limit."""

    number: int
    layers: Layers
    worker: str | None = None
    frames: int | None = None
    ending: RecordingEnded | None = None
    renewed_ns: int = 0
    _timed: int = 0
    _missed: int = 0
    _waiting: deque[tuple[LinkMessage, Sequence[Pixels]]] = field(default_factory=deque)
    _recorders: set[str] = field(default_factory=set)  # those that will send a last batch

    def wants(self, peer: str) -> bool:
        """Return whether the recording includes this camera, worker, or the hub."""
        return self.worker is None or peer == f"worker/{self.worker}"

    def order(self) -> RecordRequest:
        """Return the request to send to the processes now."""
        for_s = 0.0 if self.ending else LEAVE_S
        return RecordRequest(recording=self.number, for_s=for_s, layers=self.layers)

    def put(self, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> None:
        """Queue a message for the client."""
        if len(self._waiting) < WAITING:
            self._waiting.append((message, payloads))
        else:
            self._missed += 1

    def flush(self, links: Links, now: int) -> bool:
        """Send as many messages as there is room for; False if the client is gone."""
        while self._waiting and self.send(links, *self._waiting[0]):
            self._waiting.popleft()
        if not self._waiting:
            self.received_ns = now
        return not self.is_gone(now)

    def begins(self, peer: str) -> None:
        """Record that a process has joined."""
        self._recorders.add(peer)

    def timed(self, frames: int) -> None:
        """Count frames whose layers were timed."""
        self._timed += frames

    def recorder_finished(self, peer: str) -> None:
        """Record that a process has sent its last batch."""
        self._recorders.discard(peer)

    def why_over(self, now: int, *, worker_is_lost: bool) -> RecordingEnded | None:
        """Return why the recording is complete or cannot continue; None while it runs."""
        if worker_is_lost:
            return RecordingEnded(reason="lost")
        if self.frames is not None and self._timed >= self.frames:
            return RecordingEnded(reason="frames")
        return RecordingEnded(reason="time") if now >= self.until_ns else None

    def end(self, ending: RecordingEnded, now: int) -> None:
        """End it; processes may still send their last batches."""
        self.ending, self.until_ns = ending, now + FLUSH_NS

    def is_complete(self, now: int) -> bool:
        """Return whether all processes have sent their last batch, or have had enough time."""
        return self.ending is not None and (now >= self.until_ns or not self._recorders)

    @property
    def final_message(self) -> RecordingEnded:
        """Return the last message to the client."""
        return RecordingEnded(reason=self.ending.reason if self.ending else "time", missed=self._missed)


class LayerSeconds:
    """Shows the metric of layers only during a recording, so that old values are not read as new ones."""

    def __init__(self, metric: Summary) -> None:
        self._metric = metric
        self._of_worker: dict[str, list[Summary]] = {}

    def set_kernels(self, worker: str, costs: Sequence[KernelCost]) -> None:
        """Set the kernels of a worker, in the order of its launches."""
        self._of_worker[worker] = [self._metric.labels(cost.operator, cost.kernel) for cost in costs]

    def add(self, worker: str, jobs: Sequence[JobTimes]) -> int:
        """Add the times of jobs. Returns the number of frames whose layers were timed."""
        timed = 0
        for job in jobs:
            kernels = job.device.kernels if job.device else ()
            timed += job.frames if kernels else 0
            for metric, (start_ns, end_ns) in zip(self._of_worker.get(worker, ()), kernels, strict=False):
                metric.observe((end_ns - start_ns) * 1e-9)
        return timed

    def forget(self) -> None:
        """Remove the metric at the end."""
        self._metric.clear()
        self._of_worker.clear()


NOTES = 100  # of the hub's own, in a message at least, but once a second
HUB = "hub"


def note_drop(notebook: Notebook, held: Held, reason: str) -> None:
    """Note a frame that the hub drops, during a recording."""
    if notebook.is_open:
        frame = held.frame
        notebook.note("drop", now_ns(), frames=((frame.camera, frame.frame),), reason=reason)


class Recordings:
    """Records for one client. It costs nothing while no recording runs (`is_active`)."""

    def __init__(self, node: Node, notebook: Notebook, layer_seconds: Summary) -> None:
        self._node = node
        self._notebook = notebook
        self._layers = LayerSeconds(layer_seconds)
        self._now: Recording | None = None

    @property
    def is_active(self) -> bool:
        """Return whether a recording runs."""
        return self._now is not None

    def start(self, client: str, request: ProfileRequest | TraceRequest) -> None:
        """Start a recording for `client`, or refuse it with the reason."""
        worker = None
        if not (refused := self._busy()) and isinstance(request, ProfileRequest):
            worker, refused = self._worker_for(request.worker)
        begins = RecordingStarted(refused=refused, node=self._node.name, worker=worker)
        self._node.links.send(client, begins)
        if not refused:
            self._begin(client, request, worker)

    def stop(self, client: str) -> None:
        """End the recording of a client that leaves before its end."""
        if self._now and self._now.client == client:
            self._stop()

    def collect(self, received: Received) -> None:
        """Pass on a batch of a camera or a worker."""
        recording, message = self._now, received.message
        if recording is None or not recording.wants(received.peer):
            return
        if isinstance(message, RecorderHello):
            recording.begins(received.peer)
            self._layers.set_kernels(received.peer, message.costs)
        if isinstance(message, TraceBatch):
            recording.timed(self._layers.add(received.peer, message.jobs))
            if message.last:
                recording.recorder_finished(received.peer)
        recording.put(Forwarded(peer=received.peer), [received.header])

    def step(self, now: int) -> None:
        """Continue the recording, at each turn of the loop."""
        if (recording := self._now) is None:
            return
        if len(self._notebook) >= NOTES:
            self._send_notes(recording)
        lost = recording.worker is not None and recording.worker not in self._node.workers.hellos
        if not recording.ending and (ending := recording.why_over(now, worker_is_lost=lost)):
            recording.end(ending, now)
            self._renew(recording, now)
        elif now >= recording.renewed_ns:
            self._renew(recording, now)
        if recording.is_complete(now):
            self.close()
        elif not recording.flush(self._node.links, now):
            self._stop()

    def close(self) -> None:
        """Send the client the remaining messages, and the end of the recording."""
        if recording := self._now:
            self._send_notes(recording)
            recording.put(recording.final_message)
            recording.flush(self._node.links, now_ns())
            self._stop()

    def next_ns(self) -> int | None:
        """Return when `step` must be called even if nothing arrives."""
        return min(self._now.renewed_ns, self._now.until_ns) if self._now else None

    def _busy(self) -> str:
        return self._now.refusal(now_ns()) if self._now else ""

    def _worker_for(self, name: str | None) -> tuple[str | None, str]:
        """Return the worker whose kernels are timed, or why there is none."""
        ready = self._node.workers.hellos
        there = f"there are: {', '.join(ready)}" if ready else "none is ready"
        if name is not None:
            return (name, "") if name in ready else (None, f"no worker {name} is ready; {there}")
        serving = [each for each in ready if each in self._node.supervisor.serving]
        if len(serving) == 1:
            return serving[0], ""
        return None, f"name one with --worker: {', '.join(serving)}" if serving else "no worker is ready"

    def _begin(self, client: str, request: ProfileRequest | TraceRequest, worker: str | None) -> None:
        now = now_ns()
        until_ns, number = now + nanoseconds(request.seconds), randbits(48)
        if isinstance(request, ProfileRequest):
            self._now = Recording(
                client=client,
                until_ns=until_ns,
                number=number,
                layers="half",
                worker=worker,
                frames=request.frames,
            )
        else:
            layers: Layers = "all" if request.layers else "none"
            self._now = Recording(client=client, until_ns=until_ns, number=number, layers=layers)
            self._send(self._now, RecorderHello(pid=os.getpid(), host=socket.gethostname()))
        for name, hello in self._node.workers.hellos.items():
            if self._now.wants(f"worker/{name}"):
                self._now.put(Forwarded(peer=f"worker/{name}"), [encode(hello)])

    def _renew(self, recording: Recording, now: int) -> None:
        """Renew the recording, once a second: it then includes new processes, and shows that the hub is alive."""
        recording.renewed_ns, order = now + RENEWED_NS, recording.order()
        peers = [f"camera/{name}" for name in self._node.router.cameras]
        peers += [f"worker/{name}" for name in self._node.workers.hellos]
        for peer in filter(recording.wants, peers):
            self._node.links.send(peer, order)
        if recording.wants(HUB):
            self._notebook.open(order.recording, order.for_s)
        self._send_notes(recording)

    def _stop(self) -> None:
        if self._now and not self._now.ending:
            self._now.end(self._now.final_message, now_ns())
            self._renew(self._now, now_ns())
        self._now = None
        self._layers.forget()
        self._notebook.open(0, 0.0)

    def _send_notes(self, recording: Recording) -> None:
        self._send(recording, TraceBatch(spans=self._notebook.pop_spans()))

    def _send(self, recording: Recording, message: LinkMessage) -> None:
        recording.put(Forwarded(peer=HUB), [encode(message)])
