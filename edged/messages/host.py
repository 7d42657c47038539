"""State of a machine: a worker there sends it to the hub."""

from typing import Annotated

from msgspec import Meta

from edged.messages.message import Content, Count, Message, Positive

MOST = 32  # sensors, and domains, of one machine: each is a series in Prometheus

SensorName = Annotated[str, Meta(min_length=1, max_length=64)]


class Frequency(Content, frozen=True):
    """Clock frequency of a CPU policy or a GPU, in hertz."""

    now: Annotated[Count, Meta(description="Current frequency")]
    limit: Annotated[Positive, Meta(description="Highest frequency that is allowed now")]
    maximum: Annotated[Positive, Meta(description="Highest frequency of the hardware")]


class HostState(Message, frozen=True):
    """Worker to hub, every few seconds: temperatures and frequencies of its machine."""

    celsius: Annotated[dict[SensorName, float], Meta(max_length=MOST, description="Temperature by sensor, in °C")]
    frequencies: Annotated[dict[SensorName, Frequency], Meta(max_length=MOST, description="Frequency by domain")]
