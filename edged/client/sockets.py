"""How a client connects: it comes back by itself, and notices a peer that is gone."""

import zmq

Context = zmq.Context[zmq.Socket[bytes]]


def connect(context: Context, kind: int, address: str, queued: int) -> zmq.Socket[bytes]:
    """A socket that connects to `address`, as soon as somebody is there and again and again."""
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, queued)
    socket.setsockopt(zmq.MAXMSGSIZE, 2**24)  # bytes of one part, far more than a prediction has
    socket.setsockopt(zmq.HEARTBEAT_IVL, 1000)  # milliseconds
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)
    socket.setsockopt(zmq.CONNECT_TIMEOUT, 1500)
    socket.setsockopt(zmq.RECONNECT_IVL, 100)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
    socket.connect(address)
    return socket
