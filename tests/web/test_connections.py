"""Connections of an HTTP server."""

import socket
from contextlib import closing

from edged.web.connections import ConnectionServer, Disconnections
from edged.web.limits import ConnectionLimits
from edged.web.server import bound


def test_a_response_in_two_parts_does_not_wait_between_them() -> None:
    listener = bound("127.0.0.1:0")
    entrance = ConnectionServer(listener, None, ConnectionLimits(), Disconnections("test"))
    listener.setblocking(True)

    with socket.create_connection(listener.getsockname()), closing(listener.accept()[0]) as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    entrance.close()
