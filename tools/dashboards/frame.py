"""What all dashboards share: the choice of board and camera, links to the others, marks of what happened."""

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models.common import TimeZoneBrowser
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLinkType,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from tools.dashboards.panels import DATASOURCE, Panel
from tools.dashboards.promql import of_node

TAG = "edged"
JOB = 'job="edged"'
FIRING = of_node("ALERTS", 'alertstate="firing"')
MARKS = {  # what is drawn as a line or region over every panel: expression, title, colour
    "Alerts": (FIRING, "{{alertname}} on {{node}}", "red"),
    "Starts of edged": (
        f"{of_node('process_start_time_seconds', JOB)} > time() - 60",
        "edged started on {{node}}",
        "blue",
    ),
    "Workers lost": (
        f"sum by (node, worker) (changes({of_node('edged_worker_restarts_total')}[2m])) > 0",
        "{{worker}} was lost",
        "orange",
    ),
    "Other device": (
        f"changes({of_node('edged_fallback')}[2m]) > 0",
        "another group of workers serves on {{node}}",
        "purple",
    ),
}


@dataclass(frozen=True)
class Row:
    """Panels under one heading; they fill the width of 24 line by line."""

    title: str
    panels: Sequence[Panel]


def choice(name: str, label: str, values: str) -> build.QueryVariable:
    """Return a variable whose value is one or more values of a label, or all."""
    variable = (
        build.QueryVariable(name).label(label).query(f"label_values({values}, {name})").datasource(DATASOURCE)
    )
    variable = variable.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.NATURAL_ASC).multi(True)
    return variable.include_all(True).all_value(".*").current(VariableOption(True, "All", "$__all"))


def text(name: str, label: str, value: str) -> build.TextBoxVariable:
    """Return a variable of the dashboard whose value the reader types."""
    return (
        build.TextBoxVariable(name).label(label).default_value(value).current(VariableOption(True, value, value))
    )


NODE = choice("node", "Board", "edged_build_info")
CAMERA = choice("camera", "Camera", of_node("edged_frames_total"))
Variable = build.QueryVariable | build.TextBoxVariable


def dashboard(
    name: str, title: str, summary: str, variables: Sequence[Variable], rows: Sequence[Row]
) -> Dashboard:
    """Build a dashboard, with its panels numbered and placed."""
    made = build.Dashboard(title).uid(f"edged-{name}").description(summary).tags([TAG]).timezone(TimeZoneBrowser)
    made = made.time("now-1h", "now").refresh("10s").tooltip(DashboardCursorSync.CROSSHAIR).link(_others())
    made = made.with_variable(build.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    for variable in variables:
        made = made.with_variable(variable)
    for mark, (expression, words, color) in MARKS.items():
        made = made.annotation(_mark(mark, expression, words, color))
    number = 0
    for row in rows:
        made = made.with_row(build.Row(row.title).id(number := number + 1))
        for panel in row.panels:
            made = made.with_panel(panel.id(number := number + 1))
    return made.build()


def _others() -> build.DashboardLink:
    link = build.DashboardLink("edged").type(DashboardLinkType.DASHBOARDS).tags([TAG]).icon("external link")
    return link.include_vars(True).keep_time(True)


def _mark(name: str, expression: str, words: str, color: str) -> build.AnnotationQuery:
    mark = build.AnnotationQuery().name(name).datasource(DATASOURCE).enable(True).icon_color(color)
    return mark.expr(expression).title_format(words).step("1m")
