"""Many subscribers in one process: `python -m tests.e2e.crowd ADDRESS READERS SLEEPERS`.

Says `all served` once every reader has had SERVED messages; sleepers never read. Ends with its standard input.
"""

import resource
import sys

import zmq

SERVED = 20


def subscriber(context: zmq.Context[zmq.Socket[bytes]], address: str) -> zmq.Socket[bytes]:
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, 1)
    socket.setsockopt(zmq.RCVBUF, 4096)
    socket.setsockopt(zmq.RECONNECT_IVL, 500)
    socket.subscribe("")
    socket.connect(address)
    return socket


def main(address: str, readers: int, sleepers: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, readers + sleepers)
    reading = {subscriber(context, address): 0 for _ in range(readers)}
    sleeping = [subscriber(context, address) for _ in range(sleepers)]
    poller = zmq.Poller()
    for socket in reading:
        poller.register(socket, zmq.POLLIN)
    poller.register(sys.stdin, zmq.POLLIN)
    told = False
    while sys.stdin.fileno() not in (ready := dict(poller.poll())):
        for socket in ready:
            socket.recv_multipart()
            reading[socket] += 1
        if not told and min(reading.values()) >= SERVED:
            told = True
            print(f"all served, {len(sleeping)} asleep", flush=True)
    context.destroy(linger=0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
