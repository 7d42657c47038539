"""What a board takes: watts a rail, joules a prediction, the cost of a day; and how hot it is."""

from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards.frame import NODE, Row, choice, dashboard, text
from tools.dashboards.heat import heat
from tools.dashboards.panels import PER_SECOND, Panel, Series, bars, lines, number
from tools.dashboards.promql import mean, of_node, quantile, rate, share

RAILS = of_node("edged_energy_joules_total", 'rail=~"$rail"')
NO_SENSOR = "This board has no power sensor, and `energy` in its config estimates none"
NO_POWER = "No power sensor"
PREDICTION = of_node("edged_inference_joules")


def build() -> Dashboard:
    return dashboard(
        "energy",
        "edged / Energy",
        "Joules a prediction, watts a rail and the cost of a day, each with how it was measured; heat and clocks.",
        [
            NODE,
            choice("rail", "Rail", of_node("edged_energy_joules_total")),
            text("price", "Price of 1 kWh", "0.30"),
        ],
        [
            Row("How much is it?", _now()),
            Row("How many watts a rail?", _rails()),
            Row("How many joules a prediction?", _predictions()),
            Row("Is the board throttling?", heat()),
        ],
    )


def _now() -> list[Panel]:
    average = f"sum(rate({RAILS}[$__range]))"
    predictions = rate(of_node("edged_predictions_total"))
    return [
        number("Power now", units.Watt, "Of the rails that are chosen.", rate(RAILS), nothing=NO_POWER),
        number("Power, on average", units.Watt, "In the time shown.", average, nothing=NO_POWER),
        number(
            "Energy of a day", units.KiloWattHour, "At that average.", f"{average} * 24 / 1000", nothing=NO_POWER
        ),
        number(
            "Cost of a day",
            units.NoUnit,
            "At the price above.",
            f"{average} * 24 / 1000 * $price",
            nothing=NO_POWER,
        ),
        number(
            "Joules a prediction",
            units.Joule,
            "As published with it, on average.",
            mean(PREDICTION),
            nothing=NO_POWER,
        ),
        number(
            "All joules a prediction",
            units.Joule,
            "Of the rails that are chosen, idle time included.",
            share(rate(RAILS), predictions),
            nothing=NO_POWER,
        ),
    ]


def _rails() -> list[Panel]:
    return [
        lines(
            "How many watts does each rail supply?",
            units.Watt,
            "Measured, or estimated from the processor's time: the method stands behind the name.",
            Series(rate(RAILS, "host", "rail", "method"), "{{host}} {{rail}} ({{method}})"),
            stacked=True,
            nothing=NO_SENSOR,
        ),
        lines(
            "How many of them are the idle board's?",
            units.Watt,
            "What was measured at the start, before any frame (energy.idle_s).",
            Series(of_node("edged_idle_watts", 'rail=~"$rail"'), "{{host}} {{rail}} idle"),
            Series(rate(RAILS, "host", "rail"), "{{host}} {{rail}}"),
            nothing=NO_SENSOR,
        ),
    ]


def _predictions() -> list[Panel]:
    buckets = of_node("edged_inference_joules_bucket")
    name = "{{node}} ({{method}})"
    return [
        lines(
            "How many joules does a prediction take?",
            units.Joule,
            "Mean, median and p99 of what is published with each.",
            Series(mean(PREDICTION, "node", "method"), f"{name} mean"),
            *(Series(quantile(of, buckets, "node", "method"), f"{name} p{of * 100:.0f}") for of in (0.5, 0.99)),
            nothing=NO_SENSOR,
        ),
        lines(
            "How many predictions does a joule give?",
            units.Short,
            "Of all that the rails supplied, idle time included: grows with the load.",
            Series(share(rate(of_node("edged_predictions_total"), "node"), rate(RAILS, "node"))),
            width=6,
            nothing=NO_SENSOR,
        ),
        bars(
            "How is it measured?",
            PER_SECOND,
            "Predictions a second by method; `none` has no joules and is left out.",
            Series(rate(of_node("edged_inference_joules_count"), "node", "method"), name),
            width=6,
            nothing=NO_SENSOR,
        ),
    ]
