"""The kinds of panels: each has a question as its title, a unit, and a word on how to read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import bargauge, common, heatmap, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Threshold, ThresholdsMode, ValueMap, ValueMappingResult
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

Panel = timeseries.Panel | stat.Panel | statetimeline.Panel | heatmap.Panel | bargauge.Panel | table.Panel
P = TypeVar("P", timeseries.Panel, stat.Panel, statetimeline.Panel, heatmap.Panel, bargauge.Panel, table.Panel)

DATASOURCE = kinds.DataSourceRef(type_val="prometheus", uid="${datasource}")
PER_SECOND = "suffix:/s"
WARN, BAD, GOOD = "orange", "red", "green"
NO_DATA = "No data in the time shown: look whether the board answers Prometheus"
Limits = Sequence[tuple[float, str]]  # from which value on which colour; green below the first


@dataclass(frozen=True)
class Series:
    """An expression, and what each of its series is called ({{label}} stands for a label's value)."""

    expression: str
    legend: str = "{{node}}"


def lines(
    title: str,
    unit: str,
    meaning: str,
    *series: Series,
    limits: Limits = (),
    width: int = 12,
    stacked: bool = False,
    nothing: str = NO_DATA,
) -> timeseries.Panel:
    """Build a panel of curves over time, with limits as dashed lines. `nothing`: its text without data."""
    legend = common.VizLegendOptions().display_mode(kinds.LegendDisplayMode.TABLE).show_legend(True)
    legend = legend.placement(kinds.LegendPlacement.BOTTOM).calcs(["mean", "max", "lastNotNull"])
    tooltip = common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI).sort(kinds.SortOrder.DESCENDING)
    panel = timeseries.Panel().legend(legend).tooltip(tooltip).line_width(1).fill_opacity(50 if stacked else 10)
    panel = panel.min(0).show_points(kinds.VisibilityMode.NEVER)
    if stacked:
        panel.stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL).group("A"))
    if limits:
        panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(kinds.GraphThresholdsStyleMode.DASHED))
    return drawn(panel, title, unit, meaning, queries_of(series), limits, (width, 8), nothing)


def number(
    title: str,
    unit: str,
    meaning: str,
    expression: str,
    *,
    limits: Limits = (),
    width: int = 4,
    nothing: str = "No data",
) -> stat.Panel:
    """Build a panel with the current value, and its curve in the background."""
    last = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    panel = stat.Panel().reduce_options(last).graph_mode(kinds.BigValueGraphMode.AREA)
    panel = panel.color_mode(kinds.BigValueColorMode.VALUE if limits else kinds.BigValueColorMode.NONE)
    return drawn(panel, title, unit, meaning, queries_of([Series(expression, title)]), limits, (width, 4), nothing)


def states(
    title: str,
    meaning: str,
    *series: Series,
    words: Mapping[int, tuple[str, str]],
    width: int = 12,
    nothing: str = NO_DATA,
) -> statetimeline.Panel:
    """Build a panel of states over time. `words`: the name and colour of each value."""
    results = {
        str(value): ValueMappingResult(text=text, color=color, index=index)
        for index, (value, (text, color)) in enumerate(words.items())
    }
    legend = common.VizLegendOptions().display_mode(kinds.LegendDisplayMode.LIST).show_legend(True)
    panel = statetimeline.Panel().mappings([ValueMap(options=results)]).merge_values(True).row_height(0.8)
    panel = panel.legend(legend.placement(kinds.LegendPlacement.BOTTOM)).show_value(kinds.VisibilityMode.AUTO)
    return drawn(panel, title, units.NoUnit, meaning, queries_of(series), (), (width, 8), nothing)


def spread(title: str, unit: str, meaning: str, buckets: str, *, width: int = 12) -> heatmap.Panel:
    """Build a heat map of a histogram over time. `buckets`: their increases, by `le`."""
    query = _query(Series(buckets, "{{le}}"), "A").format(PromQueryFormat.HEATMAP)
    panel = heatmap.Panel().calculate(False).y_axis(heatmap.YAxisConfig().unit(unit))
    return drawn(panel, title, unit, meaning, [query], (), (width, 8), NO_DATA)


def bars(
    title: str, unit: str, meaning: str, *series: Series, width: int = 12, nothing: str = NO_DATA
) -> bargauge.Panel:
    """Build a panel of bars, one for each series. `nothing`: its text without data."""
    last = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    panel = bargauge.Panel().reduce_options(last).orientation(kinds.VizOrientation.HORIZONTAL)
    panel = panel.display_mode(kinds.BarGaugeDisplayMode.BASIC).min(0)
    return drawn(
        panel, title, unit, meaning, [each.instant() for each in queries_of(series)], (), (width, 8), nothing
    )


def drawn(
    panel: P,
    title: str,
    unit: str,
    meaning: str,
    queries: list[Dataquery],
    limits: Limits,
    size: tuple[int, int],
    nothing: str,
) -> P:
    """Complete a panel by the settings that every kind has. `size`: width, height; `nothing`: without data."""
    width, height = size
    panel = panel.no_value(nothing)
    panel = panel.title(title).description(meaning).datasource(DATASOURCE).unit(unit).span(width).height(height)
    for query in queries:
        panel = panel.with_target(query)
    return panel.thresholds(ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps_of(limits)))


def steps_of(limits: Limits) -> list[Threshold]:
    """Return the colours by value: green below the first limit, then that of each."""
    return [Threshold(value=None, color=GOOD), *(Threshold(value=value, color=color) for value, color in limits)]


def queries_of(series: Sequence[Series]) -> list[Dataquery]:
    """Return a query for each series; they are named A, B, C …"""
    return [_query(each, chr(ord("A") + index)) for index, each in enumerate(series)]


def _query(series: Series, ref_id: str) -> Dataquery:
    query = Dataquery().expr(series.expression).legend_format(series.legend).ref_id(ref_id)
    return query.datasource(DATASOURCE).range()
