"""What the server of requests expects of a protocol, and of its requests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import zmq

from edged.camera.served.refusals import RefusedRequestError
from edged.messages import Capture, FrameAnswer, ServedModel
from edged.messages.detection import InFrame
from edged.pictures.prepare import Pixels

AT_ONCE = 256  # requests that are read before the hub's messages are


class TimedRequest(Protocol):
    """A picture that a client waits for, to be answered before `due_ns`."""

    @property
    def received_ns(self) -> int: ...

    @property
    def due_ns(self) -> int: ...


R = TypeVar("R", bound=TimedRequest)


@dataclass(frozen=True, eq=False)
class FittedPicture:
    """A picture as the network takes it. `pixels`: uint8 [height, width, 3], C-contiguous.

    place: of the picture in `pixels`; None: it fills them. whole: the picture as it came, uint8 [h, w, 3].
    """

    pixels: Pixels
    whole: Pixels
    place: InFrame | None = None


class RequestEndpoint(Protocol[R]):
    """Reads requests of one protocol, and sends answers.

    refused: how many requests were, by reason. inbox: readable when there is something to `receive`.
    """

    @property
    def refused(self) -> Mapping[str, int]: ...

    @property
    def inbox(self) -> int | zmq.Socket[bytes]: ...

    @property
    def due_ns(self) -> int | None:
        """Return when `receive` must be called at the latest; None: when there is something to."""

    def open(self) -> None:
        """Listen. Raises CameraError."""

    def receive(self, model: ServedModel | None) -> Iterator[R]:
        """Yield the pictures that have arrived, at most `AT_ONCE`. `model`: that serves; None: not known yet."""

    def prepare(self, request: R, wanted: Capture) -> FittedPicture:
        """Return the picture of a request as the network takes it. Raises RefusedRequestError."""

    def answer(self, request: R, answer: FrameAnswer) -> None:
        """Send what was found."""

    def give_up(self, request: R, reason: str) -> None:
        """Answer that there is no answer. `reason`: why its picture was dropped."""

    def refuse(self, request: R, error: RefusedRequestError) -> None:
        """Answer that a picture cannot be used; count and log the mistake."""

    def close(self) -> None:
        """Send the last answers, and listen no more."""
