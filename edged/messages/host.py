"""State of a machine: a worker there sends it to the hub."""

from typing import Annotated, Literal

from pydantic import Field

from edged.messages.message import Count, Message, Positive

MOST = 32  # sensors, and domains, of one machine: each is a series in Prometheus

SensorName = Annotated[str, Field(min_length=1, max_length=64)]


class Frequency(Message):
    """Clock frequency of a CPU policy or a GPU, in hertz."""

    now: Count = Field(description="Current frequency")
    limit: Positive = Field(description="Highest frequency that is allowed now")
    maximum: Positive = Field(description="Highest frequency of the hardware")


class HostState(Message):
    """Worker to hub, every few seconds: temperatures and frequencies of its machine."""

    kind: Literal["host_state"] = "host_state"
    celsius: Annotated[dict[SensorName, float], Field(max_length=MOST)] = Field(
        description="Temperature by sensor, in °C"
    )
    frequencies: Annotated[dict[SensorName, Frequency], Field(max_length=MOST)] = Field(
        description="Frequency by domain"
    )
