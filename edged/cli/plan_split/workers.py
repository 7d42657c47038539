"""The workers of a config, for `edged plan-split` in the hub's place: same endpoints and keys."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import zmq

from edged import __version__
from edged.clock import nanoseconds, now_ns
from edged.config import Config
from edged.config.load import save_config
from edged.errors import DeviceError, ModelError
from edged.hub.children.child import Child, describe_exit
from edged.hub.children.environment import ChildEnvironment
from edged.hub.children.shutdown import stop_children
from edged.hub.frames.queues import Pixels
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.peers import Links, Received, open_guard, open_links
from edged.hub.links.runtime_folder import link_address, private_folder, snapshot_path
from edged.hub.service_threads import ServiceThreads
from edged.hub.signals import Signals
from edged.hub.workers.supervisor import EDGED
from edged.messages import HostState, JobFailed, LinkMessage, WorkerHello, protocol_problem
from edged.metrics import Metrics
from edged.system.paths import journal_path

Tell = Callable[[str], None]

LOOK_S = 0.2  # how often whether a child has ended
ANSWER_S = 120.0  # a device may have to compile


class Team:
    """Who is there, and what they say. Every method raises DeviceError where a worker has ended or fails."""

    def __init__(
        self, links: Links, children: Mapping[str, Child], tell: Tell, guard: Guard | None = None
    ) -> None:
        """`children`: those workers that are processes of this host, by name; `tell`: a person what goes on."""
        self.hellos: dict[str, WorkerHello] = {}
        self.tell = tell
        self._links = links
        self._children = children
        self._guard = guard

    def gather(self, names: Collection[str], within_s: float) -> None:
        """Wait until all of these have said hello."""
        deadline_ns, told = now_ns() + nanoseconds(within_s), ""
        while missing := ", ".join(name for name in names if name not in self.hellos):
            if missing != told:
                self.tell(f"waiting for {missing}")
            told = missing
            if self.hear(deadline_ns) is None:
                raise DeviceError(
                    f"{missing}: not here within {within_s:g} s. Start `edged worker --config FILE` on each other "
                    "host, or wait longer (--wait SECONDS)"
                )

    def ask(self, requests: Mapping[str, LinkMessage], for_s: float = 0.0) -> dict[str, LinkMessage]:
        """Tell each what to do, which takes it `for_s`, and wait until all are ready again: their answers."""
        for name, request in requests.items():
            del self.hellos[name]
            self.send(name, request)
        answers: dict[str, LinkMessage] = {}
        deadline_ns = now_ns() + nanoseconds(for_s + ANSWER_S)
        while missing := [name for name in requests if name not in self.hellos]:
            received = self.hear(deadline_ns)
            if received is None:
                raise DeviceError(f"worker {', '.join(missing)} does not answer within {for_s + ANSWER_S:g} s")
            if not isinstance(received.message, WorkerHello):
                answers[name_of(received)] = received.message
        return answers

    def send(self, name: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> None:
        """To one of them."""
        if not self._links.send(f"worker/{name}", message, payloads):
            raise DeviceError(f"worker {name} cannot be reached any more")

    def hear(self, until_ns: int) -> Received | None:
        """What a worker says next, or None where none says anything until then. A hello is remembered."""
        while True:
            while received := self._links.receive():
                match received.message:
                    case WorkerHello() as hello:
                        self._greet(name_of(received), hello)
                        return received
                    case JobFailed() as failed:
                        raise DeviceError(f"worker {name_of(received)} could not do a job: {failed.error}")
                    case HostState():
                        continue
                if received.peer.startswith("worker/"):
                    return received
            self._look_around()
            left_s = (until_ns - now_ns()) * 1e-9
            if left_s <= 0:
                return None
            self._links.wait(round(1000 * min(left_s, LOOK_S)) + 1)

    def _greet(self, name: str, hello: WorkerHello) -> None:
        if problem := protocol_problem(hello):
            raise DeviceError(f"worker {name}: {problem}")
        for other, theirs in self.hellos.items():
            if theirs.model != hello.model:
                raise ModelError(
                    f"worker {name} runs {hello.model.name} ({hello.model.sha256[:12]}), {other} runs "
                    f"{theirs.model.name} ({theirs.model.sha256[:12]}): give both the same model file"
                )
        self.hellos[name] = hello

    def _look_around(self) -> None:
        """At the children, and at who was turned away."""
        for name, child in self._children.items():
            child.start_if_due(now_ns())
            if (code := child.exit_code()) is not None:
                raise DeviceError(f"worker {name} {describe_exit(code)}: its message is above")
        for notice in self._guard.notices(now_ns()) if self._guard else ():
            self.tell(notice.message)


def name_of(received: Received) -> str:
    """The worker's, in the config's words."""
    return received.peer.removeprefix("worker/")


@contextmanager
def in_place_of_the_hub(config: Config, tell: Tell) -> Iterator[Team]:
    """The doors are open, and the workers of this host are started; at the end they are stopped.

    Raises ConfigError where a hub runs already, or an address cannot be had.
    """
    with ExitStack() as resources:
        folder = resources.enter_context(private_folder(journal_path(config.node, config.journal.path))).path
        save_config(config, snapshot_path(folder))
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        resources.callback(context.destroy, linger=0)
        metrics = Metrics(__version__)
        services = ServiceThreads(metrics.service_up, metrics.service_failures)
        guard = open_guard(context, config, Rejections(metrics.peers_rejected), services, resources)
        resources.callback(services.close)
        address = link_address(folder)
        links = open_links(context, config, address, guard)
        where = ("--config", str(snapshot_path(folder)), "--hub", address)
        environment = ChildEnvironment(config).of_worker
        children = {
            config.worker_name(index): Child(
                f"worker/{config.worker_name(index)}", (*EDGED, "worker", str(index), *where), environment
            )
            for index, worker in enumerate(config.workers)
            if worker.host is None
        }
        resources.callback(_stop, children, links)
        yield Team(links, children, tell, guard)


def _stop(children: dict[str, Child], links: Links) -> None:
    with Signals() as signals:
        stop_children(list(children.values()), links, signals, lambda received: None)
