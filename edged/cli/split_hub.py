"""`edged plan-split` in the place of the hub: the same doors and keys, the same workers, and no camera."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import zmq

from edged import __version__
from edged.cli.split_team import Team, Tell
from edged.config import Config
from edged.config_file import save_config
from edged.hub.children.child import Child
from edged.hub.children.environment import ChildEnvironment
from edged.hub.children.shutdown import stop_children
from edged.hub.links.doors import open_guard, open_links
from edged.hub.links.links import Links
from edged.hub.links.private import link_address, private_folder, snapshot_path
from edged.hub.links.rejections import Rejections
from edged.hub.service_threads import ServiceThreads
from edged.hub.signals import Signals
from edged.hub.workers.supervisor import EDGED
from edged.metrics import Metrics
from edged.paths import journal_path


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
