"""Metrics of energy."""

from edged.metrics.declare import JOULES, Declare


class EnergyMetrics:
    """Joules, by rail and by prediction."""

    def __init__(self, declare: Declare) -> None:
        self.energy = declare.counter(
            "edged_energy_joules_total",
            "Energy that a power rail of a host has supplied while a worker ran there, idle time included.",
            ["node", "rail", "method"],
        )
        self.inference_joules = declare.histogram(
            "edged_inference_joules", "Energy of one prediction.", ["method"], buckets=JOULES
        )
