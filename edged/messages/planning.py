"""Messages between a worker and `edged plan-split`, which takes the place of the hub."""

from typing import Annotated

from msgspec import Meta

from edged.messages.message import Content, Count, Message, Positive, Seconds


class MeasureRequest(Message, frozen=True):
    """To a worker: measure how long each part of the network takes on your device."""

    frames: Annotated[Positive, Meta(description="Frames of each job")]
    for_s: Annotated[Seconds, Meta(description="Approximate duration of the measurement")]


class CutPoint(Content, frozen=True):
    """A place between two operators where a single tensor crosses, with the costs of a cut there."""

    after: Annotated[
        str | None,
        Meta(description="Operator that writes the tensor; null: the images (first), or the scores (last)"),
    ]
    nbytes: Annotated[Count, Meta(description="Size of the tensor for one job")]
    reached_s: Annotated[
        Seconds, Meta(description="Device time from the first kernel's start until the tensor is there")
    ]
    receive_s: Annotated[
        Seconds, Meta(description="Time to begin here: from the payload to the tensor on the device")
    ]
    send_s: Annotated[Seconds, Meta(description="Time to end here: from the tensor on the device to the payload")]


class MeasureAnswer(Message, frozen=True):
    """From a worker: the costs at every possible cut."""

    cut_points: Annotated[tuple[CutPoint, ...], Meta(description="In order, from the images to the scores")]
    overlaps: Annotated[
        bool,
        Meta(description="Receiving and sending overlap computing; false for a CPU, whose cores do all three"),
    ]


class Echo(Message, frozen=True):
    """To a worker, with a payload: answer with an `Echo` whose payload has `reply_bytes` bytes."""

    reply_bytes: Annotated[int, Meta(ge=0, le=1 << 28, description="Size of the answer's payload")]


class AssignPart(Message, frozen=True):
    """To a worker: run the operators behind `begin` up to `end` from now on, and send a new `WorkerHello`."""

    begin: Annotated[str | None, Meta(description="`after` of a cut point; null: from the images")] = None
    end: Annotated[str | None, Meta(description="`after` of a cut point; null: to the scores")] = None
