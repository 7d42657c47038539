"""Sockets that other programs connect to."""

import zmq

from edged.errors import ConfigError

LARGEST_MESSAGE = 65_536  # what a subscriber or replay client may send us


def bind(
    context: zmq.Context[zmq.Socket[bytes]], kind: int, key: str, address: str, queued: int
) -> zmq.Socket[bytes]:
    """A socket bound to `address`, which the config's `key` gives. Raises ConfigError."""
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, queued)
    socket.setsockopt(zmq.RCVHWM, queued)
    socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 2000)  # milliseconds
    socket.setsockopt(zmq.HEARTBEAT_IVL, 1000)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        socket.close()
        raise ConfigError(unusable(key, address, error.errno, error.strerror)) from None
    return socket


def unusable(key: str, address: str, errno: int | None, reason: str | None) -> str:
    """What to say of an address that cannot be bound."""
    if errno == zmq.EADDRINUSE:
        return f"{key}: {address} is in use: is another edged running? Stop it, or choose another port"
    return f"{key}: {address} cannot be used: {reason}"
