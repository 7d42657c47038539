"""Start and talk to the workers of a config in place of the hub, for `edged plan-split`."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import zmq

from edged import __version__
from edged.clock import nanoseconds, now_ns
from edged.config import Config
from edged.config.load import save_config
from edged.errors import DeviceError, ModelError
from edged.hub.children.child import Child
from edged.hub.children.command import ChildCommands, ChildEnvironment
from edged.hub.children.shutdown import stop_children
from edged.hub.frames.queues import Pixels
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.peers import Links, open_guard, open_links
from edged.hub.links.received import Received
from edged.hub.links.runtime_folder import private_folder
from edged.hub.service_threads import ServiceThreads
from edged.hub.signals import Signals
from edged.hub.workers.admission import other_model
from edged.messages import ClockRequest, HostState, JobFailed, LinkMessage, WorkerHello, protocol_problem
from edged.metrics import Metrics
from edged.runtime.drivers import why_drivers_may_not_be_loaded
from edged.system.paths import journal_path, link_address, snapshot_path
from edged.system.process_end import describe_exit, uninterrupted

Report = Callable[[str], None]  # shows a line of progress

CHECK_S = 0.2  # between two looks for children that have exited
ANSWER_S = 120.0  # a device may have to compile first


class Team:
    """The workers that have joined. Every method raises DeviceError if a worker exits or fails."""

    def __init__(
        self, links: Links, children: Mapping[str, Child], report: Report, guard: Guard | None = None
    ) -> None:
        """`children`: the worker processes of this host, by name."""
        self.hellos: dict[str, WorkerHello] = {}
        self.report = report
        self._links = links
        self._children = children
        self._guard = guard

    def gather(self, names: Collection[str], within_s: float) -> None:
        """Wait until all of these workers have joined; for those of other hosts, `within_s` seconds.

        Those of this host were started here, and may have to compile all kernels of the network first.
        """
        deadline_ns, reported = now_ns() + nanoseconds(within_s), ""
        while missing := [name for name in names if name not in self.hellos]:
            if (names_missing := ", ".join(missing)) != reported:
                self.report(f"waiting for {names_missing}")
            reported = names_missing
            elsewhere = ", ".join(name for name in missing if name not in self._children)
            received = self.receive(deadline_ns if elsewhere else now_ns() + nanoseconds(within_s))
            if received is None and elsewhere:
                raise DeviceError(
                    f"{elsewhere}: not connected within {within_s:g} s. Start `edged worker --config FILE` on "
                    "each other host, or wait longer (--wait TIME)"
                )

    def request(self, requests: Mapping[str, LinkMessage], for_s: float = 0.0) -> dict[str, LinkMessage]:
        """Send each worker its request, which takes `for_s` seconds, and return the answers."""
        with uninterrupted():  # a worker without its hello and without the request would never answer
            for name, request in requests.items():
                del self.hellos[name]
                self.send(name, request)
        answers: dict[str, LinkMessage] = {}
        deadline_ns = now_ns() + nanoseconds(for_s + ANSWER_S)
        while missing := [name for name in requests if name not in self.hellos]:
            received = self.receive(deadline_ns)
            if received is None:
                raise DeviceError(f"worker {', '.join(missing)} does not answer within {for_s + ANSWER_S:g} s")
            if not isinstance(received.message, WorkerHello):
                answers[name_of(received)] = received.message
        return answers

    def send(self, name: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> None:
        if not self._links.send(f"worker/{name}", message, payloads):
            raise DeviceError(f"worker {name} is disconnected, or does not read its messages")

    def receive(self, until_ns: int) -> Received | None:
        """Return the next message of a worker, or None at `until_ns`. Hellos are kept in `hellos`."""
        while True:
            while received := self._links.receive():
                match received.message:
                    case WorkerHello() as hello:
                        self._add_hello(name_of(received), hello)
                        return received
                    case JobFailed() as failed:
                        raise DeviceError(f"worker {name_of(received)} failed a job: {failed.error}")
                    case ClockRequest() as request:
                        self._links.answer_clock(received.peer, request)
                        continue
                    case HostState():
                        continue
                if received.peer.startswith("worker/"):
                    return received
            self._check_children()
            left_s = (until_ns - now_ns()) * 1e-9
            if left_s <= 0:
                return None
            self._links.wait(round(1000 * min(left_s, CHECK_S)) + 1)

    def _add_hello(self, name: str, hello: WorkerHello) -> None:
        if problem := protocol_problem(hello):
            raise DeviceError(f"worker {name}: {problem}")
        for other, theirs in self.hellos.items():
            if problem := other_model(hello, f"{other} runs", theirs.model):
                raise ModelError(f"worker {name} {problem}")
        self.hellos[name] = hello

    def _check_children(self) -> None:
        """Restart children if due, raise if one has exited, and report rejected peers."""
        for name, child in self._children.items():
            child.start_if_due(now_ns())
            if (code := child.exit_code()) is not None:
                crash = why_drivers_may_not_be_loaded() if code < 0 else ""
                raise DeviceError(f"worker {name} {describe_exit(code)}: {crash or 'its message is above'}")
        for notice in self._guard.notices(now_ns()) if self._guard else ():
            self.report(notice.message)


def name_of(received: Received) -> str:
    """Return the name of the worker that sent a message."""
    return received.peer.removeprefix("worker/")


@contextmanager
def run_workers(config: Config, report: Report) -> Iterator[Team]:
    """Listen at the hub's addresses, start the workers of this host, and stop them at the end.

    Raises ConfigError if a hub is running already, or if an address is in use.
    """
    with ExitStack() as resources:
        folder = resources.enter_context(private_folder(journal_path(config.node, config.journal.path))).path
        save_config(config, snapshot_path(folder))
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        resources.callback(context.destroy, linger=0)
        metrics = Metrics(__version__)
        services = ServiceThreads(metrics.service_up, metrics.service_failures)
        rejections = Rejections(metrics.peers_rejected)
        guard = open_guard(context, config, rejections, services, resources)
        resources.callback(services.close)
        address = link_address(folder)
        links = open_links(context, config, address, guard, rejections, resources)
        commands = ChildCommands(snapshot_path(folder), address)
        environment = ChildEnvironment(config).of_worker
        children = {
            config.worker_name(index): Child(
                f"worker/{config.worker_name(index)}", commands.worker(index), environment
            )
            for index, worker in enumerate(config.workers)
            if worker.host is None
        }
        resources.callback(_stop, children, links)
        yield Team(links, children, report, guard)


def _stop(children: dict[str, Child], links: Links) -> None:
    with Signals() as signals:
        stop_children(list(children.values()), links, signals, lambda received: None)
