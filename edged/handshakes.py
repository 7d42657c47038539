"""Why a hub does not let us in. libzmq tries never again then: the socket must be made anew."""

from itertools import count

import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.connect import Context, Curve

NUMBERS = count()  # of monitors: libzmq frees the name of one that was closed after a while only
EVENTS = (
    zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
)
UNKNOWN = (
    "the hub does not know this key: there, add its .pub to security.allow for a subscriber, to security.cameras "
    "or security.workers for a host, then `edged reload`"
)
NO_KEY = "the hub asks for a key: give yours and the hub's .pub (key and server_key, --key and --server-key)"
NO_KEYS_THERE = "the hub speaks without keys: leave key and server_key out, or is it another program?"
WRONG_HUB = "the handshake fails: is the server key the .pub of this very hub?"
NO_HUB = "who answers there does not speak as a hub does: is it the right address?"


class Handshakes:
    """The handshakes of one socket that connects. `socket` is readable where there is news."""

    def __init__(self, context: Context, socket: zmq.Socket[bytes], curve: Curve | None) -> None:
        self._curve = curve
        self._broken_off = 0  # in a row, and without a reason
        self._succeeded = False
        self.socket = context.socket(zmq.PAIR)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.LINGER, 0)
        name = f"inproc://handshakes/{next(NUMBERS)}"
        socket.monitor(name, EVENTS)
        self.socket.connect(name)

    def failure(self) -> str:
        """Why the last one has failed since we asked; nothing where none has, or one has succeeded since."""
        failure = ""
        while self.socket.poll(0):
            event = parse_monitor_message(self.socket.recv_multipart())
            match event["event"]:
                case zmq.EVENT_HANDSHAKE_SUCCEEDED:
                    self._broken_off = 0
                    self._succeeded = True
                    failure = ""
                case zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                    failure = UNKNOWN
                case zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
                    mismatch = event["value"] == zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
                    failure = (NO_KEYS_THERE if self._curve else NO_KEY) if mismatch else NO_HUB
                case zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
                    failure = self._guess()
        return failure

    def take_success(self) -> bool:
        """Whether one has succeeded since this was asked last, as far as `failure` has seen."""
        succeeded, self._succeeded = self._succeeded, False
        return succeeded

    def _guess(self) -> str:
        """A hub that wants a key may hang up before its greeting is read; one that ends meanwhile does so once."""
        self._broken_off += 1
        if self._curve:
            return WRONG_HUB
        return NO_KEY if self._broken_off > 1 else ""

    def close(self) -> None:
        """Listen no more."""
        self.socket.close()
