"""A table: a line for each value of a label, a column for each expression."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, DynamicConfigValue
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from tools.dashboards.panels import NO_DATA, Limits, Series, drawn, queries_of, steps_of


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its expression, its unit and the limits of its colours."""

    name: str
    expression: str
    unit: str = units.Short
    limits: Limits = ()


def by_label(title: str, meaning: str, label: str, link: str, *columns: Column, width: int = 24) -> table.Panel:
    """Build a table with a line for each value of `label`, which links to another dashboard."""
    queries = queries_of([Series(column.expression, column.name) for column in columns])
    panel = table.Panel().with_transformation(DataTransformerConfig(id_val="merge", options={}))
    values = {
        f"Value #{query.build().ref_id}": column.name for query, column in zip(queries, columns, strict=True)
    }
    order = {name: index for index, name in enumerate([label, *values])}
    options = {"excludeByName": {"Time": True}, "renameByName": values, "indexByName": order}
    panel = panel.with_transformation(DataTransformerConfig(id_val="organize", options=options))
    for column in columns:
        panel = panel.override_by_name(column.name, _look(column))
    panel = panel.override_by_name(label, [DynamicConfigValue("links", [{"title": "Show it", "url": link}])])
    tables = [query.instant().format(PromQueryFormat.TABLE) for query in queries]
    return drawn(panel, title, units.Short, meaning, tables, (), (width, 8), NO_DATA)


def _look(column: Column) -> list[DynamicConfigValue]:
    unit = DynamicConfigValue("unit", column.unit)
    if not column.limits:
        return [unit]
    steps = [each.to_json() for each in steps_of(column.limits)]
    colored = DynamicConfigValue("custom.cellOptions", {"type": "color-text"})
    return [unit, colored, DynamicConfigValue("thresholds", {"mode": "absolute", "steps": steps})]
