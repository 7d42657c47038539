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
        self.idle_watts = declare.gauge(
            "edged_idle_watts",
            "What a power rail of a host drew before its worker began, where energy.idle_s asks for that.",
            ["node", "rail"],
        )
        self.inference_joules = declare.quick_histogram(
            "edged_inference_joules",
            "Energy of one prediction, on the rails that its device uses.",
            ["method"],
            JOULES,
        )
