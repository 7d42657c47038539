"""Between a worker and `edged plan-split`, which stands in the hub's place."""

from typing import Literal

from pydantic import Field

from edged.messages.message import Count, Message, Positive, Seconds


class MeasureRequest(Message):
    """To a worker: how long does each part of the network take there? In jobs of `frames`, for about `for_s`."""

    kind: Literal["measure_request"] = "measure_request"
    frames: Positive
    for_s: Seconds


class CutPoint(Message):
    """Where a single tensor crosses: behind the operator `after`; None: the images, or the scores.

    `nbytes` of a job cross. `reached_s`: device time from the first kernel's start until it is there; `receive_s`:
    what a worker needs to begin with it, from the payload to the device; `send_s`: to end with it, and back.
    """

    after: str | None
    nbytes: Count
    reached_s: Seconds
    receive_s: Seconds
    send_s: Seconds


class MeasureAnswer(Message):
    """A worker's answer: the places in order, from the images to the scores.

    `overlaps`: the host takes and gives while the device computes; on a CPU both want the same cores.
    """

    kind: Literal["measure_answer"] = "measure_answer"
    cut_points: tuple[CutPoint, ...]
    overlaps: bool


class Echo(Message):
    """To a worker, with a payload: answer with another one, of `reply_bytes` bytes."""

    kind: Literal["echo"] = "echo"
    reply_bytes: int = Field(ge=0, le=1 << 28)


class AssignPart(Message):
    """To a worker: from now on run what lies behind `begin` up to `end`, and say hello with it.

    Each is the operator `after` of a place; None: from the images, or to the scores.
    """

    kind: Literal["assign_part"] = "assign_part"
    begin: str | None = None
    end: str | None = None
