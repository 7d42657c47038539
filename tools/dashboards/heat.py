"""How hot a board is, and whether that slows it down: panels of more than one dashboard."""

from grafana_foundation_sdk.models import units

from tools.dashboards.panels import BAD, GOOD, WARN, Panel, Series, lines, states
from tools.dashboards.promql import of_node

NO_THERMOMETER = "This board has no temperature sensor that the kernel shows"
NO_CLOCK = "The kernel of this board does not show the processors' clock"
HOT = ((75, WARN), (85, BAD))


def heat() -> list[Panel]:
    most, allowed = of_node("edged_frequency_max_hertz"), of_node("edged_frequency_limit_hertz")
    name = "{{host}} {{domain}}"
    return [
        lines(
            "How hot is it?",
            units.Celsius,
            "Every sensor that the kernel shows, of the board and of its workers' hosts.",
            Series(of_node("edged_temperature_celsius"), "{{host}} {{sensor}}"),
            limits=HOT,
            nothing=NO_THERMOMETER,
            width=8,
        ),
        lines(
            "At which clock does it run?",
            units.Hertz,
            "By clock domain. A low one alone may just be idle.",
            Series(of_node("edged_frequency_hertz"), name),
            nothing=NO_CLOCK,
            width=8,
        ),
        states(
            "Is it throttled?",
            "The highest clock that is allowed now is below what the hardware can.",
            Series(f"{allowed} < bool 0.95 * {most}", name),
            words={0: ("full clock", GOOD), 1: ("throttled", BAD)},
            nothing=NO_CLOCK,
            width=8,
        ),
    ]
