"""Messages between a worker and `edged plan-split`, which takes the place of the hub."""

from typing import Literal

from pydantic import Field

from edged.messages.message import Count, Message, Positive, Seconds


class MeasureRequest(Message):
    """To a worker: measure how long each part of the network takes on your device."""

    kind: Literal["measure_request"] = "measure_request"
    frames: Positive = Field(description="Frames of each job")
    for_s: Seconds = Field(description="Approximate duration of the measurement")


class CutPoint(Message):
    """A place between two operators where a single tensor crosses, with the costs of a cut there."""

    after: str | None = Field(
        description="Operator that writes the tensor; null: the images (first), or the scores (last)"
    )
    nbytes: Count = Field(description="Size of the tensor for one job")
    reached_s: Seconds = Field(description="Device time from the first kernel's start until the tensor is there")
    receive_s: Seconds = Field(description="Time to begin here: from the payload to the tensor on the device")
    send_s: Seconds = Field(description="Time to end here: from the tensor on the device to the payload")


class MeasureAnswer(Message):
    """From a worker: the costs at every possible cut."""

    kind: Literal["measure_answer"] = "measure_answer"
    cut_points: tuple[CutPoint, ...] = Field(description="In order, from the images to the scores")
    overlaps: bool = Field(
        description="Receiving and sending overlap computing; false for a CPU, which does all three on its cores"
    )


class Echo(Message):
    """To a worker, with a payload: answer with an `Echo` whose payload has `reply_bytes` bytes."""

    kind: Literal["echo"] = "echo"
    reply_bytes: int = Field(ge=0, le=1 << 28, description="Size of the answer's payload")


class AssignPart(Message):
    """To a worker: run the operators behind `begin` up to `end` from now on, and send a new `WorkerHello`."""

    kind: Literal["assign_part"] = "assign_part"
    begin: str | None = Field(None, description="`after` of a cut point; null: from the images")
    end: str | None = Field(None, description="`after` of a cut point; null: to the scores")
