"""The hub's doors as the config has them, and who may come through."""

from contextlib import ExitStack

import zmq

from edged.config import Config
from edged.hub.links.access import allowed_by
from edged.hub.links.guard import Guard
from edged.hub.links.link import inner_door, outer_door
from edged.hub.links.links import Links, elsewhere
from edged.hub.links.rejections import Rejections
from edged.hub.service_threads import ServiceThreads
from edged.keys import load_pair

Context = zmq.Context[zmq.Socket[bytes]]


def open_guard(
    context: Context, config: Config, rejections: Rejections, services: ServiceThreads, resources: ExitStack
) -> Guard:
    """Lets in whom the config allows, until `resources` closes it. Raises ConfigError for a key file."""
    security = config.security
    guard = Guard(context, rejections, services, load_pair(security.key) if security else None)
    resources.callback(guard.close)
    if security:
        guard.allow(allowed_by(security))
    return guard


def open_links(context: Context, config: Config, address: str, guard: Guard) -> Links:
    """The inner door at `address`, and the outer one where the config has one. Raises ConfigError."""
    outside = config.link.bind or config.link.address
    outer = outer_door(context, outside, guard) if outside else None
    return Links(inner_door(context, address, guard), outer, elsewhere(config))
