"""Grafana's dashboards: what the files hold is whole, is Grafana's own format, and answers every question."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from edged.metrics import Metrics
from tests.conftest import ROOT
from tools.dashboards import dashboards, written

GRAFANA = ROOT / "deploy/grafana"
FILES = sorted((GRAFANA / "dashboards").glob("*.json"))
UNITS = {value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("__")}
OTHERS = {"up", "ALERTS", "process_start_time_seconds"}  # metrics that are not edged's own
BUILT_IN = {"__rate_interval", "__range", "__url_time_range", "__data", "__all", "1"}  # 1: of label_replace
WIDTH = 24
QUESTIONS = {  # and a panel that answers it, where one looks for it
    "Is a camera down, or frozen?": ("camera", "Does it give frames?"),
    "How old is what I see?": ("pipeline", "How old is a prediction when it is published?"),
    "Where do the milliseconds go?": ("pipeline", "Where does the time of a frame go, on average?"),
    "What was dropped, and why?": ("pipeline", "Why are frames dropped?"),
    "Which device answers?": ("pipeline", "Which worker serves?"),
    "Which model answers?": ("pipeline", "Which model answers?"),
    "Did it fall back?": ("pipeline", "Did it fall back?"),
    "Is the score drifting?": ("camera", "Do the scores sink?"),
    "Do other labels come up?": ("camera", "Which labels come up?"),
    "Is it right, where the truth is known?": ("camera", "How often is it right?"),
    "How many joules a frame?": ("energy", "How many joules does a prediction take?"),
    "How many watts a rail?": ("energy", "How many watts does each rail supply?"),
    "What does a day cost?": ("energy", "Cost of a day"),
    "How hot is the board?": ("fleet", "How hot is it?"),
    "Is the board throttling?": ("fleet", "Is it throttled?"),
    "Are workers restarting?": ("pipeline", "Are workers restarting?"),
    "Is the journal filling up?": ("pipeline", "How full is the journal?"),
    "Do the notifications arrive?": ("pipeline", "What became of the notifications?"),
    "Who was refused?": ("pipeline", "Who was refused or cut off?"),
    "Which layer takes the time?": ("engine", "Which layers take longest?"),
}

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def loaded(file: Path) -> dict[str, Any]:
    dashboard: dict[str, Any] = json.loads(file.read_text())
    return dashboard


def panels_of(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def test_they_are_as_the_code_writes_them() -> None:
    expected = {f"{name}.json": written(dashboard) for name, dashboard in dashboards().items()}
    assert {file.name: file.read_text() for file in FILES} == expected, "run `make docs`"


@each_file
def test_it_is_read_and_written_by_grafanas_types_without_loss(file: Path) -> None:
    register_default_plugins()
    assert json.loads(written(Dashboard.from_json(loaded(file)))) == loaded(file)


@each_file
def test_its_panels_have_numbers_of_their_own_and_leave_no_gap(file: Path) -> None:
    panels = loaded(file)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place.get("x", 0), place.get("x", 0) + place["w"])
        for y in range(place.get("y", 0), place.get("y", 0) + place["h"])
    ]
    height = 1 + max(y for _, y in cells)
    assert sorted(cells) == [(x, y) for x in range(WIDTH) for y in range(height)]


@each_file
def test_each_panel_says_what_it_shows_in_a_unit_that_grafana_knows(file: Path) -> None:
    panels = panels_of(loaded(file))
    assert panels
    for panel in panels:
        overrides = [each for override in panel["fieldConfig"]["overrides"] for each in override["properties"]]
        shown = [panel["fieldConfig"]["defaults"]["unit"]]
        shown += [each["value"] for each in overrides if each["id"] == "unit"]
        assert panel["description"]
        assert panel["targets"]
        assert all(target["legendFormat"] for target in panel["targets"])
        assert all(unit in UNITS or unit.startswith("suffix:") for unit in shown), panel["title"]


@each_file
def test_each_panel_says_what_it_means_that_it_is_empty(file: Path) -> None:
    empty = {
        panel["title"]: panel["fieldConfig"]["defaults"].get("noValue", "") for panel in panels_of(loaded(file))
    }
    assert [title for title, words in empty.items() if len(words) < len("No data")] == []


def test_a_board_without_a_power_sensor_reads_so_on_each_panel_about_energy() -> None:
    panels = panels_of(loaded(GRAFANA / "dashboards/energy.json"))
    asked = [panel for panel in panels if re.search("joules|watts", str(panel["targets"]))]
    assert len(asked) > 8
    assert all("power sensor" in panel["fieldConfig"]["defaults"]["noValue"] for panel in asked)


@each_file
def test_it_asks_the_datasource_that_is_chosen(file: Path) -> None:
    dashboard = loaded(file)
    askers = [*panels_of(dashboard), *(target for panel in panels_of(dashboard) for target in panel["targets"])]
    askers += dashboard["annotations"]["list"]
    askers += [each for each in dashboard["templating"]["list"] if each["type"] == "query"]
    assert {each["datasource"]["uid"] for each in askers} == {"${datasource}"}


@each_file
def test_every_variable_that_it_uses_is_one_that_it_has(file: Path) -> None:
    dashboard = loaded(file)
    used = {name for text in strings(dashboard) for name in re.findall(r"\$\{?(\w+)", text)} - BUILT_IN
    assert used == {each["name"] for each in dashboard["templating"]["list"]}


@each_file
def test_its_metrics_are_those_that_edged_has(file: Path) -> None:
    known = OTHERS | set(metrics_of_edged())
    dashboard = loaded(file)
    texts = [target["expr"] for panel in panels_of(dashboard) for target in panel["targets"]]
    texts += [each["expr"] for each in dashboard["annotations"]["list"]]
    texts += [each["query"] for each in dashboard["templating"]["list"]]
    named = {name for text in texts for name in re.findall(r"\w+(?=\{)|edged_\w+", text)}
    assert named
    assert named <= known


def metrics_of_edged() -> Iterator[str]:
    ends = {"counter": ("_total",), "info": ("_info",), "gauge": ("",), "summary": ("_sum", "_count")}
    ends["histogram"] = ("_sum", "_count", "_bucket")
    for metric in Metrics("1.0").registry.collect():
        yield from (metric.name + end for end in ends[metric.type])


def test_each_has_an_address_of_its_own_and_links_to_the_others() -> None:
    all_of_them = [loaded(file) for file in FILES]
    addresses = {each["uid"] for each in all_of_them}
    assert len(addresses) == len(all_of_them)
    assert all(link["tags"] == each["tags"] == ["edged"] for each in all_of_them for link in each["links"])
    linked = {uid for each in all_of_them for text in strings(each) for uid in re.findall(r"/d/([\w-]+)", text)}
    assert linked
    assert linked <= addresses


@pytest.mark.parametrize(("name", "title"), QUESTIONS.values(), ids=QUESTIONS)
def test_every_question_has_a_panel(name: str, title: str) -> None:
    titles = [panel["title"] for panel in panels_of(loaded(GRAFANA / f"dashboards/{name}.json"))]
    assert title in titles


def test_grafana_counts_on_the_interval_at_which_prometheus_scrapes() -> None:
    prometheus = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    [source] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yaml").read_text())["datasources"]
    assert source["jsonData"]["timeInterval"] == prometheus["global"]["scrape_interval"]
