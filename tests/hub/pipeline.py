"""The pipeline of a hub with real parts, but without its loop, processes and control requests."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import zmq

from edged.clock import NANOSECONDS
from edged.config import CameraConfig, Config
from edged.config import JournalConfig as JournalSettings
from edged.hub.cameras.answers import FrameAnswers
from edged.hub.cameras.cameras import Cameras
from edged.hub.children.command import ChildCommands
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.router import Router
from edged.hub.journal.journal import Journal
from edged.hub.links.peers import Links
from edged.hub.links.sockets import Part
from edged.hub.liveness import Liveness
from edged.hub.node import Node
from edged.hub.pipeline import Pipeline, Publication
from edged.hub.publish.publisher import Publisher, Snapshots
from edged.hub.publish.seen_states import SeenStates
from edged.hub.publish.sender import AnsweredJob
from edged.hub.service_threads import ServiceThreads
from edged.hub.stats.counters import Stats
from edged.hub.stats.hosts import HostStates
from edged.hub.stats.summary import Limits
from edged.hub.workers.heads import Heads
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import Snapshot
from edged.metrics import Metrics
from edged.system.host_watch import HostWatch
from edged.transport.spans import Notebook
from tests.eventually import LIMIT_S, free_port
from tests.link_ends import unix_link


class NobodyTeaches:
    """An observer of jobs that requests nothing."""

    is_active = False

    def request_extras(self, assigned: Assigned) -> None:
        raise AssertionError

    def receive_scores(self, job: AnsweredJob) -> None:
        raise AssertionError


@dataclass
class PipelineParts:
    """A pipeline, and what a test looks at."""

    node: Node
    metrics: Metrics
    snapshots: Snapshots
    publisher: Publisher
    publication: Publication
    pipeline: Pipeline


@contextmanager
def running_pipeline(
    folder: Path,
    cameras: Mapping[str, CameraConfig],
    *,
    keep: int = 2,
    max_age_ns: int = NANOSECONDS,
    publish_snapshot: Callable[[Snapshot, Part], None] | None = None,
) -> Iterator[PipelineParts]:
    """Of a hub whose link is at `hub` in `folder`, and that has these cameras and no worker yet."""
    metrics, services, liveness = Metrics("test"), new_services(), Liveness()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    address = f"tcp://127.0.0.1:{free_port()}"
    publisher = Publisher(context, "test", address, "", services, metrics.stream_unsent)
    journal = Journal(folder / "journal.sqlite", JournalSettings(), services)
    links = Links(unix_link(f"unix://{folder}/hub"))
    answers = FrameAnswers(links)
    limits = {"keep": keep, "max_age_ns": max_age_ns, "deadline_ns": NANOSECONDS}
    router = Router(cameras, **limits, on_dropped=answers.dropped)
    stats = Stats(metrics, cameras, Notebook(), labels=20, node="test")
    heads = Heads(links, metrics, folder)
    watch = HostWatch(folder)
    hosts = HostStates(metrics, "test", watch)
    snapshots = Snapshots(publish_snapshot or publisher.snapshot, metrics, cameras)
    node = Node(
        name="test",
        links=links,
        liveness=liveness,
        router=router,
        stats=stats,
        heads=heads,
        cameras=Cameras(router, links, metrics, snapshots, liveness, answers),
        workers=Workers(router, links, heads, stats.energy, metrics, hosts, ends={}),
        supervisor=Supervisor(Config(cameras=dict(cameras)), ChildCommands(folder / "config", "unix:///unused")),
        seen=SeenStates({}),
    )
    publication = Publication(node, publisher, journal, Limits(), top=1)
    pipeline = Pipeline(node, publication, NobodyTeaches())
    try:
        yield PipelineParts(node, metrics, snapshots, publisher, publication, pipeline)
    finally:
        watch.stop()
        publisher.sender.stop(LIMIT_S)
        journal.close()
        services.close()
        links.close()
        context.destroy(linger=0)


def new_services() -> ServiceThreads:
    """With metrics of their own."""
    metrics = Metrics("test")
    return ServiceThreads(metrics.service_up, metrics.service_failures)
