"""Says which connections may be (ZeroMQ's authentication protocol, rfc.zeromq.org/spec/27).

zmq.auth does the same on a thread of its own; here it is a few lines on the guard's, beside the events that belong
to them. A socket with a ZAP domain and ZAP_ENFORCE_DOMAIN lets nobody in while nobody answers here.
"""

from collections.abc import Mapping

import zmq
from zmq.utils import z85

from edged.hub.links.rejections import Rejections

ADDRESS = "inproc://zeromq.zap.01"
VERSION = b"1.0"


class Zap:
    """Answers libzmq's questions. A domain is an endpoint's name in the config."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], rejections: Rejections) -> None:
        self.socket = context.socket(zmq.ROUTER)  # a REP that was interrupted could not go on
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.bind(ADDRESS)
        self.allowed: Mapping[str, Mapping[bytes, str]] = {}  # who it is by domain and key; replaced as a whole
        self.encrypted: frozenset[str] = frozenset()  # the domains that ask for a key
        self._rejections = rejections

    def serve(self) -> None:
        """Answer all that wait."""
        while self.socket.poll(0):
            peer, _, version, request, domain, address, _, mechanism, *credentials = self.socket.recv_multipart()
            name = self._name(domain.decode(), address.decode(), mechanism, credentials)
            allowed = name is not None and version == VERSION
            status = (b"200", b"OK") if allowed else (b"400", b"not in security")
            self.socket.send_multipart([peer, b"", VERSION, request, *status, (name or "").encode(), b""])

    def _name(self, domain: str, address: str, mechanism: bytes, credentials: list[bytes]) -> str | None:
        """Who it is, or None where it must not be."""
        if mechanism == b"NULL" and domain not in self.encrypted:
            return ""  # anybody
        key = z85.encode(credentials[0]) if mechanism == b"CURVE" and credentials else b""
        name = self.allowed.get(domain, {}).get(key)
        if name is None:
            self._rejections.add(domain, "unknown_key", address, key.decode())
        return name
