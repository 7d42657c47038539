"""Build the hub: open everything that can fail before a child is started."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import zmq

from edged import __version__
from edged.clock import nanoseconds, seconds_since
from edged.config import Config
from edged.config.load import check_passwords
from edged.errors import ConfigError
from edged.hub.cameras.cameras import Cameras
from edged.hub.frames.router import Router
from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.peers import PRIVATE, Links, open_guard, open_links
from edged.hub.links.runtime_files import RuntimeFiles
from edged.hub.links.runtime_folder import private_folder
from edged.hub.links.sockets import unusable
from edged.hub.publish.publisher import Outlet, Publisher
from edged.hub.publish.replay import Replay
from edged.hub.publish.snapshots import Snapshots
from edged.hub.service_threads import ServiceThreads
from edged.hub.stats.hosts import HostStates
from edged.hub.stats.metrics_server import ENDPOINT, Scrapes
from edged.hub.stats.moments import Moments
from edged.hub.stats.summary import Tally
from edged.hub.workers.dispatch import Dispatch
from edged.hub.workers.heads import Heads
from edged.hub.workers.results import Answers
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.metrics import Metrics
from edged.model.head_versions import teach_folder
from edged.system.host_watch import HostWatch
from edged.system.paths import journal_path
from edged.tracing import Notebook
from edged.transport.address import host_and_port, is_local
from edged.transport.tls import server_context


@dataclass(frozen=True, slots=True)
class Limits:
    """After so many predictions, or so many seconds after the first worker was ready; None: never."""

    predictions: int | None = None
    seconds: float | None = None

    def count_reached(self, predictions: int) -> bool:
        """Whether there must not be more predictions than these."""
        return self.predictions is not None and predictions >= self.predictions

    def time_expired(self, first_ready_ns: int | None) -> bool:
        """Whether the run has lasted long enough. `first_ready_ns`: when the first worker was ready."""
        return (
            self.seconds is not None
            and first_ready_ns is not None
            and seconds_since(first_ready_ns) >= self.seconds
        )


ENDPOINTS = ("publish.address", "publish.replay", "link.address", PRIVATE, ENDPOINT)

log = logging.getLogger("edged.hub")

LOCAL_ADDRESS = "ipc://"  # where cameras and workers of this host alone meet the hub


@dataclass(frozen=True, slots=True)
class Components:
    """What a hub is made of."""

    router: Router
    links: Links
    guard: Guard
    journal: Journal
    outlet: Outlet
    cameras: Cameras
    snapshots: Snapshots
    heads: Heads
    workers: Workers
    supervisor: Supervisor
    metrics: Metrics
    moments: Moments
    tally: Tally
    hosts: HostStates
    runtime_files: RuntimeFiles
    notebook: Notebook
    services: ServiceThreads


def build_components(
    config: Config, limits: Limits, *, program: Sequence[str], resources: ExitStack
) -> Components:
    """The parts of a hub, which `resources` closes. Raises ConfigError for what is in use or cannot be."""
    check_passwords(config)
    metrics, tally, router = Metrics(__version__), Tally(list(config.cameras)), _router(config)
    services = ServiceThreads(metrics.service_up, metrics.service_failures)
    journal = _journal(config, services, resources)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    resources.callback(context.destroy, linger=0)
    rejections = Rejections(metrics.peers_rejected, ENDPOINTS)
    guard = open_guard(context, config, rejections, services, resources)
    publisher = Publisher(
        context,
        config.node,
        config.publish.address,
        config.publish.replay,
        services,
        metrics.stream_unsent,
        guard,
    )
    resources.callback(publisher.stop, 0.0)
    replay = Replay(
        context,
        config.publish.replay,
        JournalReader(journal_path(config.node, config.journal.path), keep_connection=True),
        journal.suspect,
        services,
        guard,
    )
    resources.callback(replay.stop)
    moments = _serve_metrics(config, metrics, rejections, services, resources)
    folder = resources.enter_context(private_folder(journal_path(config.node, config.journal.path)))
    runtime_files = RuntimeFiles(folder, config)
    links = open_links(context, config, runtime_files.address, guard)
    notebook = Notebook()
    outlet = Outlet(config.node, publisher, journal, metrics, tally, config.metrics.labels, notebook, router)
    outlet.tell_of_the_journal()
    _warn_about_insecure_endpoints(config, metrics)
    heads = Heads(links, metrics, teach_folder(config.node))
    answers = Answers(
        router,
        outlet,
        metrics,
        heads,
        node=config.node,
        may_publish=lambda: not limits.count_reached(tally.predictions + outlet.unsettled),
    )
    hosts = _hosts(config, metrics, services, resources)
    resources.callback(services.close)
    dispatch = Dispatch(links, heads, metrics, notebook, config.publish.top)
    workers = Workers(router, links, heads, answers, dispatch, metrics, hosts, config.ends)
    supervisor = Supervisor(config, runtime_files.config_path, runtime_files.address, program)
    snapshots = Snapshots(publisher.snapshot, metrics, config.cameras)
    cameras = Cameras(router, links, metrics, snapshots)
    return Components(
        router,
        links,
        guard,
        journal,
        outlet,
        cameras,
        snapshots,
        heads,
        workers,
        supervisor,
        metrics,
        moments,
        tally,
        hosts,
        runtime_files,
        notebook,
        services,
    )


def _router(config: Config) -> Router:
    freshness = config.freshness
    return Router(
        config.cameras,
        keep=freshness.keep,
        max_age_ns=nanoseconds(freshness.max_age_s),
        deadline_ns=nanoseconds(freshness.deadline_s),
    )


def _journal(config: Config, services: ServiceThreads, resources: ExitStack) -> Journal:
    path = journal_path(config.node, config.journal.path)
    journal = Journal(path, config.journal, services, private=config.security is not None)
    resources.callback(journal.close)
    return journal


def _hosts(config: Config, metrics: Metrics, services: ServiceThreads, resources: ExitStack) -> HostStates:
    watch = HostWatch(config.energy.sysfs, start=services.start)
    resources.callback(watch.stop)
    return HostStates(metrics, config.node, watch)


def _warn_about_insecure_endpoints(config: Config, metrics: Metrics) -> None:
    """To other hosts, without a key."""
    addresses = {
        "publish.address": (config.publish.address, config.security),
        "publish.replay": (config.publish.replay, config.security),
        "link.address": (config.link.bind or config.link.address or LOCAL_ADDRESS, config.security),
        "metrics.address": (config.metrics.address, config.metrics.tls and config.metrics.tls.client_ca),
    }
    for name, (address, protection) in addresses.items():
        is_open = not is_local(address) and protection is None
        metrics.insecure.labels(name).set(is_open)
        if is_open:
            log.warning("%s: %s is open to everybody who reaches this host (insecure: true)", name, address)


def _serve_metrics(
    config: Config, metrics: Metrics, rejections: Rejections, services: ServiceThreads, resources: ExitStack
) -> Moments:
    address, tls = config.metrics.address, config.metrics.tls
    host, port = host_and_port(address)
    context = server_context(tls.certificate, tls.key, tls.client_ca) if tls else None
    moments = Moments(metrics.now)
    resources.callback(moments.close)
    try:
        scrapes = Scrapes(host, port, moments.text, rejections, context)
    except OSError as error:
        raise ConfigError(unusable(ENDPOINT, address, error.errno, error.strerror)) from None
    scrapes.start(services)
    resources.callback(scrapes.stop)
    return moments
