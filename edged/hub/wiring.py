"""Build the hub and run it. All that can fail is opened before a child is started."""

import gc
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import zmq

from edged import __version__
from edged.client.node_state import NodeState
from edged.clock import nanoseconds
from edged.config import Config
from edged.config.camera import secret_in_url
from edged.config.load import ConfigSource, check_passwords
from edged.errors import ConfigError
from edged.hub.cameras.answers import FrameAnswers
from edged.hub.cameras.cameras import Cameras
from edged.hub.children.command import EDGED, ChildCommands
from edged.hub.control import ControlRequests
from edged.hub.frames.queues import Held
from edged.hub.frames.router import Router
from edged.hub.hub import Hub
from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.links.authentication import Rejections
from edged.hub.links.peers import Context, open_guard, open_links
from edged.hub.links.runtime_folder import RuntimeFiles, private_folder
from edged.hub.links.sockets import IO_THREADS, allow_many_descriptors, unusable
from edged.hub.links.unix_link import PRIVATE
from edged.hub.liveness import Liveness
from edged.hub.node import Node
from edged.hub.pipeline import Pipeline, Publication
from edged.hub.publish.notifier import Notifier, receiver_of
from edged.hub.publish.publisher import Publisher, Snapshots
from edged.hub.publish.replay import Replay
from edged.hub.publish.seen_states import SeenStates
from edged.hub.recorder import Recordings, note_drop
from edged.hub.reload import LiveSettings, Reload
from edged.hub.service_threads import ServiceThreads
from edged.hub.signals import Signals
from edged.hub.stats.counters import Stats
from edged.hub.stats.hosts import HostStates
from edged.hub.stats.metrics_server import ENDPOINT, Health, Scrapes
from edged.hub.stats.moments import LoopMetrics, Moments
from edged.hub.stats.summary import Limits, summary
from edged.hub.status import Display, LiveDisplay, StatusReport, places
from edged.hub.supervision import Supervision
from edged.hub.systemd_service import Service
from edged.hub.teaching.promotion import Versions
from edged.hub.teaching.session import Teaching
from edged.hub.workers.heads import Heads
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.metrics import Metrics
from edged.model.head_versions import teach_folder
from edged.system.host_watch import HostWatch
from edged.system.paths import journal_path
from edged.transport.address import host_and_port, is_local
from edged.transport.spans import Notebook
from edged.transport.tls import server_context

ENDPOINTS = ("publish.address", "publish.replay", "link.address", PRIVATE, ENDPOINT)
THIS_HOST = "ipc://"  # of a hub without a link to other hosts

log = logging.getLogger("edged.hub")


def run_hub(
    config: Config,
    source: ConfigSource,
    limits: Limits,
    *,
    show: Callable[[str], None],
    line_every_s: float = 0.0,
    show_state: Callable[[NodeState], None] | None = None,
    program: Sequence[str] = EDGED,
) -> dict[str, Any]:
    """Run the pipeline of `config`, read from `source`, until it ends, a limit is reached or a signal arrives.

    `show` receives the addresses, then a status line each second or every `line_every_s`. With `show_state`, that
    receives the node's state instead, each second. `program` runs cameras and workers.
    Returns the summary. Raises EdgedError; no child is left in any case.
    """
    allow_many_descriptors()
    check_passwords(config)
    with ExitStack() as resources:
        signals = resources.enter_context(Signals())
        builder = HubBuilder(Endpoints(config, resources), source, limits, program)
        for line in places(config):
            show(line)
        lines = Display(builder.node, show, line_every_s).show_if_due
        live = LiveDisplay(builder.node, show_state).update if show_state else lines
        hub = builder.build(signals, live)
        gc.collect()
        gc.freeze()  # what lives as long as the hub need not be looked at again
        try:
            hub.run()
        finally:
            hub.stop()
        return builder.summary()


class Endpoints:
    """What the hub holds open: sockets, files, threads. `resources` closes it.

    Raises ConfigError for an address or file that is in use or cannot be used.
    """

    def __init__(self, config: Config, resources: ExitStack) -> None:
        self.config = config
        self.metrics = Metrics(__version__)
        self.services = ServiceThreads(self.metrics.service_up, self.metrics.service_failures)
        self.journal = self._open_journal(resources)
        context: Context = zmq.Context(IO_THREADS)
        context.set(zmq.THREAD_SCHED_POLICY, os.SCHED_BATCH)  # see `preempt_no_thread`
        resources.callback(context.destroy, linger=0)
        rejections = Rejections(self.metrics.peers_rejected, ENDPOINTS)
        self.guard = open_guard(context, config, rejections, self.services, resources)
        self.notifier = self._open_notifier(resources)
        self.publisher = self._open_stream(context, resources)
        self._serve_replay(context, resources)
        self.health = Health(lambda: self.services.failed)
        self.moments = self._serve_metrics(rejections, resources)
        folder = resources.enter_context(private_folder(journal_path(config.node, config.journal.path)))
        self.runtime_files = RuntimeFiles(folder, config)
        self.links = open_links(context, config, self.runtime_files.address, self.guard, rejections, resources)
        self.host_states = self._watch_host(resources)
        resources.callback(self.services.close)

    def _open_journal(self, resources: ExitStack) -> Journal:
        path = journal_path(self.config.node, self.config.journal.path)
        journal = Journal(path, self.config.journal, self.services, private=self.config.security is not None)
        resources.callback(journal.close)
        return journal

    def _open_stream(self, context: Context, resources: ExitStack) -> Publisher:
        publish, unsent = self.config.publish, self.metrics.stream_unsent
        publisher = Publisher(
            *(context, self.config.node, publish.address, publish.replay, self.services, unsent, self.guard),
            notifier=self.notifier,
        )
        resources.callback(publisher.stop)
        return publisher

    def _open_notifier(self, resources: ExitStack) -> Notifier:
        notifier = Notifier(self.services, self.metrics)
        notifier.send_to(receiver_of(self.config))
        resources.callback(notifier.stop)
        return notifier

    def _serve_replay(self, context: Context, resources: ExitStack) -> None:
        reader = JournalReader(journal_path(self.config.node, self.config.journal.path), keep_connection=True)
        suspect, events = self.journal.suspect, self.publisher.recent_events
        replay = Replay(
            context, self.config.publish.replay, reader, suspect, self.services, self.guard, events=events
        )
        resources.callback(replay.stop)

    def _serve_metrics(self, rejections: Rejections, resources: ExitStack) -> Moments:
        address, tls = self.config.metrics.address, self.config.metrics.tls
        host, port = host_and_port(address)
        context = server_context(tls.certificate, tls.key, tls.client_ca) if tls else None
        moments = Moments(self.metrics.now)
        resources.callback(moments.close)
        try:
            scrapes = Scrapes(host, port, moments.text, self.health, rejections, context, self.config.node)
        except OSError as error:
            raise ConfigError(unusable(ENDPOINT, address, error.errno, error.strerror)) from None
        scrapes.start(self.services)
        resources.callback(scrapes.stop)
        return moments

    def _watch_host(self, resources: ExitStack) -> HostStates:
        watch = HostWatch(self.config.energy.sysfs, start=self.services.start)
        resources.callback(watch.stop)
        return HostStates(self.metrics, self.config.node, watch)


class HubBuilder:
    """Builds the parts of a hub, each from the others that it needs, and finally the hub."""

    def __init__(self, opened: Endpoints, source: ConfigSource, limits: Limits, program: Sequence[str]) -> None:
        """`source`: of the config. `program`: runs cameras and workers; none is started here."""
        self._opened = opened
        self._config = config = opened.config
        self._source = source
        self._notebook = Notebook()
        self.node = node = self._make_node(program)
        self._publication = Publication(
            *(node, opened.publisher, opened.journal, limits, config.publish.top),
            tracks=config.model.boxes.track,
        )
        self._teaching = Teaching(node, opened.publisher)
        self._pipeline = Pipeline(node, self._publication, self._teaching)

    def build(self, signals: Signals, display: Callable[[int], None]) -> Hub:
        """Return the hub, after announcing the journal's events. `display` is called each second."""
        opened, node, publication = self._opened, self.node, self._publication
        service = Service(node, opened.services)
        publication.report_journal()
        _warn_about_insecure_endpoints(self._config, opened.metrics)
        _warn_about_secrets_in_urls(self._config)
        metrics = LoopMetrics(node.router, node.stats, opened.moments)
        status = StatusReport(node, publication, opened.publisher)
        every_second: tuple[Callable[[int], None], ...] = (
            lambda now: publication.report_journal(),
            lambda now: status.publish(),
            self._announce_notices,
            lambda now: metrics.update(),
            opened.host_states.tick,
            lambda now: opened.runtime_files.restore(opened.links),
            display,
            service.tick,
            lambda now: opened.health.report(now, ready=node.supervisor.works),
        )
        return Hub(
            opened.links,
            signals,
            metrics,
            self._pipeline,
            Supervision(node, service, publication),
            self._make_control(service),
            every_second,
        )

    def summary(self) -> dict[str, Any]:
        """Return what the hub has done."""
        return summary(self.node.router.ledgers, self.node.stats.summary, self.node.workers.energy_note)

    def _make_node(self, program: Sequence[str]) -> Node:
        config, opened = self._config, self._opened
        links, metrics, files = opened.links, opened.metrics, opened.runtime_files
        liveness, answers = Liveness(), FrameAnswers(links)
        router = _router(config, self._notebook, answers)
        stats = Stats(metrics, config.cameras, self._notebook, labels=config.metrics.labels, node=config.node)
        heads = Heads(links, metrics, teach_folder(config.node))
        snapshots = Snapshots(opened.publisher.snapshot, metrics, config.cameras)
        workers = Workers(router, links, heads, stats.energy, metrics, opened.host_states, ends=config.ends)
        return Node(
            name=config.node,
            links=links,
            liveness=liveness,
            router=router,
            stats=stats,
            heads=heads,
            cameras=Cameras(router, links, metrics, snapshots, liveness, answers),
            workers=workers,
            supervisor=Supervisor(config, ChildCommands(files.config_path, files.address, program)),
            seen=SeenStates(config.states),
        )

    def _announce_notices(self, now: int) -> None:
        """Announce what has happened to connections and to threads."""
        for notices in (self._opened.guard.notices, self._opened.services.notices):
            for event in notices(now):
                self._publication.announce(event)

    def _make_control(self, service: Service) -> ControlRequests:
        opened, node = self._opened, self.node
        settings = LiveSettings(node, self._publication)
        files, guard, notifier = opened.runtime_files, opened.guard, opened.notifier
        reload = Reload(self._config, self._source, files, guard, notifier, settings, opened.metrics)
        recordings = Recordings(node, self._notebook, opened.metrics.layer_seconds)
        versions = Versions(node, self._publication)
        return ControlRequests(opened.links, service, reload, recordings, self._teaching, versions)


def _router(config: Config, notebook: Notebook, answers: FrameAnswers) -> Router:
    freshness = config.freshness

    def dropped(held: Held, reason: str) -> None:
        note_drop(notebook, held, reason)
        answers.dropped(held, reason)

    return Router(
        config.cameras,
        keep=freshness.keep,
        max_age_ns=nanoseconds(freshness.max_age_s),
        deadline_ns=nanoseconds(freshness.deadline_s),
        on_dropped=dropped,
    )


def _warn_about_insecure_endpoints(config: Config, metrics: Metrics) -> None:
    """Warn about each address that other hosts can reach without a key."""
    addresses = {
        "publish.address": (config.publish.address, config.security),
        "publish.replay": (config.publish.replay, config.security),
        "link.address": (config.link.bind or config.link.address or THIS_HOST, config.security),
        "metrics.address": (config.metrics.address, config.metrics.tls and config.metrics.tls.client_ca),
    }
    for name, (address, protection) in addresses.items():
        is_open = not is_local(address) and protection is None
        metrics.insecure.labels(name).set(is_open)
        if is_open:
            log.warning("%s: %s is open to every host that reaches this one (insecure: true)", name, address)


def _warn_about_secrets_in_urls(config: Config) -> None:
    for name, camera in config.cameras.items():
        if secret := secret_in_url(camera):
            log.warning("cameras.%s.source: %s", name, secret)
