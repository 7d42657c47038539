"""The state of a machine, from a worker there to the hub."""

from typing import Annotated, Literal

from pydantic import Field

from edged.messages.message import Count, Message, Positive

MOST = 32  # sensors, and domains, of one machine: each is a series in Prometheus

SensorName = Annotated[str, Field(min_length=1, max_length=64)]


class Frequency(Message):
    """Of processors, or of a GPU, in hertz: now, the highest allowed now, and the highest of the hardware."""

    now: Count
    limit: Positive
    maximum: Positive


class HostState(Message):
    """How hot a worker's machine is, in °C by sensor, and how fast it runs, by domain; every few seconds."""

    kind: Literal["host_state"] = "host_state"
    celsius: Annotated[dict[SensorName, float], Field(max_length=MOST)]
    frequencies: Annotated[dict[SensorName, Frequency], Field(max_length=MOST)]
