"""A message of a peer as the hub receives it, and what the peer's name means."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import zmq

from edged.messages import LinkMessage


class Role(StrEnum):
    """The role of a peer, as in its name on the link: `ROLE/NAME`."""

    CAMERA = "camera"
    WORKER = "worker"
    RELOAD = "reload"
    PROFILE = "profile"
    TRACE = "trace"
    TEACH = "teach"
    UNKNOWN = ""


CONTROL_ROLES = frozenset({Role.RELOAD, Role.PROFILE, Role.TRACE, Role.TEACH})  # on the private link only


_ROLES = {role.value: role for role in Role}


@lru_cache(maxsize=1024)
def parse_peer(peer: str) -> tuple[Role, str]:
    """Return the role and the name of a peer named `ROLE/NAME`."""
    role, _, name = peer.partition("/")
    return _ROLES.get(role, Role.UNKNOWN), name


@dataclass(slots=True, eq=False)
class Received:
    """A message from a peer, with its payloads as received. `role`, `name`: of the peer.

    `header`: the message, encoded. `frame`: the part of the message that identifies the connection to libzmq; None
    on the private link.
    """

    peer: str
    role: Role
    name: str
    message: LinkMessage
    payloads: Sequence[memoryview]
    header: memoryview
    frame: zmq.Frame | None = None

    @property
    def roles(self) -> frozenset[str]:
        """Return the roles that the sender's key is for, by `Zap`; none without keys."""
        try:
            roles, _, _ = str(self.frame.get("User-Id") if self.frame else "").partition(" ")
        except zmq.ZMQError:  # a socket without a guard
            return frozenset()
        return frozenset(roles.split(",")) - {""}
