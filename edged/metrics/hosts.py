"""Metrics of the machines of a pipeline."""

from edged.metrics.declare import Declare


class HostMetrics:
    """How hot each is, and whether that slows it down. `node`: the hub's own, or the host of a worker."""

    def __init__(self, declare: Declare) -> None:
        self.temperature = declare.quick_gauge(
            "edged_temperature_celsius", "What a sensor of the machine shows.", ["node", "sensor"]
        )
        self.frequency = declare.quick_gauge(
            "edged_frequency_hertz",
            "At which the processors of a cpufreq policy, or a device of devfreq (a GPU), run now.",
            ["node", "domain"],
        )
        self.frequency_limit = declare.quick_gauge(
            "edged_frequency_limit_hertz",
            "The highest that is allowed now: below the maximum where heat, or somebody, holds it down.",
            ["node", "domain"],
        )
        self.frequency_max = declare.quick_gauge(
            "edged_frequency_max_hertz", "The highest that the hardware has.", ["node", "domain"]
        )
