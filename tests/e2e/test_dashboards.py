"""Every expression of every panel and rule, asked of a real Prometheus that watches a board where all goes wrong.

Grafana is not needed for that: `as_grafana_asks` is what it does to an expression before it asks. The rules are
those of deploy/prometheus, with their times shortened by `tests.e2e.hurry`.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.disks import a_small_disk
from tests.e2e.daemon import Daemon, conserves
from tests.e2e.fake_board import FakeBoard
from tests.e2e.hurry import hurried, hurried_rules
from tests.e2e.plagued import Plagued, time_the_layers
from tests.e2e.prometheus import Labels, Prometheus, scraping
from tests.e2e.street import street_camera
from tests.eventually import eventually, in_background
from tests.hub.receivers import NotificationServer

pytestmark = pytest.mark.deep

PROMETHEUS = ROOT / "deploy/prometheus/prometheus.yml"
RULES_FILES = sorted((ROOT / "deploy/prometheus/rules").glob("*.yml"))
FILES = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
NO_WORKER = {
    "EdgedNoWorker",
    "EdgedStale",
    "EdgedDropping",
    "EdgedServeLate",
}  # fire when even the last one is lost
ABSENT = {"EdgedMissing", "EdgedDown"}  # fire before edged starts, and when it has ended
EVERY_S = 0.5  # Prometheus scrapes, and evaluates its rules
SHOWN_S, STEP_S = 120.0, 1.0  # of a graph
CHOSEN = {  # what Grafana puts in the place of a variable: all, as at first, or what somebody has chosen
    "all": {"node": ".*", "camera": ".*", "rail": ".*"},
    "some": {"node": "juno-01", "camera": "(slow|gate|moved)", "rail": "(BIG|GPU)"},
}
BUILT_IN = {"price": "0.30", "__rate_interval": f"{10 * EVERY_S:.0f}s", "__range": f"{SHOWN_S:.0f}s"}


@dataclass(frozen=True)
class Target:
    """An expression of a panel."""

    dashboard: str
    panel: str
    expression: str
    legend: str
    instant: bool

    def as_grafana_asks(self, chosen: dict[str, str]) -> str:
        """With its variables' values."""
        values = {**BUILT_IN, **chosen}
        return re.sub(r"\$(\w+)", lambda name: values.get(name[1], name[0]), hurried(self.expression))

    def answered(self, prometheus: Prometheus, chosen: dict[str, str]) -> list[Labels]:
        expression = self.as_grafana_asks(chosen)
        if self.instant:
            return prometheus.asked(expression)
        return prometheus.asked_over(expression, SHOWN_S, STEP_S)

    def fits(self, series: list[Labels]) -> bool:
        """Whether what its legend names is there."""
        named = set(re.findall(r"\{\{(\w+)\}\}", self.legend))
        return any(named <= labels.keys() for labels in series)


def targets() -> Iterator[Target]:
    """Of all panels."""
    for file in FILES:
        dashboard = json.loads(file.read_text())
        for panel in dashboard["panels"]:
            for target in panel.get("targets", ()):
                yield Target(
                    file.stem, panel["title"], target["expr"], target["legendFormat"], bool(target.get("instant"))
                )
        for mark in dashboard["annotations"]["list"]:
            yield Target(file.stem, mark["name"], mark["expr"], mark["titleFormat"], False)


TARGETS = tuple(targets())
RULES = [
    rule for file in RULES_FILES for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]
]
ALERTS = {rule["alert"] for rule in RULES if "alert" in rule}
RECORDS = {rule["record"] for rule in RULES if "record" in rule}


@dataclass
class Seen:
    """What Prometheus answered meanwhile."""

    answers: dict[tuple[Target, str], list[Labels]] = field(default_factory=dict)
    records: dict[str, list[Labels]] = field(default_factory=dict)
    fired: set[str] = field(default_factory=set)
    fires_still: set[str] = field(default_factory=set)
    health: dict[str, str] = field(default_factory=dict)

    def look(self, prometheus: Prometheus) -> set[str]:
        """Which alerts have fired up to now."""
        self.fired |= prometheus.firing()
        return self.fired

    def ask_all(self, prometheus: Prometheus) -> bool:
        """What has had no answer before; whether all have one now."""
        for target in TARGETS:
            for name, chosen in CHOSEN.items():
                if not self.answers.get((target, name)):
                    self.answers[target, name] = target.answered(prometheus, chosen)
        self.records |= {name: prometheus.asked(name) for name in RECORDS if not self.records.get(name)}
        self.look(prometheus)
        return all(self.answers.values()) and all(self.records.values())


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Of a daemon that is not there yet, is well, falls ill, gets well, is away and comes back."""
    folder, seen = tmp_path_factory.mktemp("plagued"), Seen()
    with ExitStack() as stack:
        disk = stack.enter_context(a_small_disk(folder / "disk", "96m"))
        board = FakeBoard(folder / "sys")
        stack.enter_context(in_background(board.supply))
        cameras = [stack.enter_context(street_camera()) for _ in range(2)]
        receiver = NotificationServer()
        stack.enter_context(receiver.open())
        plagued = Plagued(folder, disk, board, receiver, *cameras)
        config = plagued.config(insecure=True)
        prometheus = stack.enter_context(scraping(folder, in_a_hurry(folder, config["metrics"]["address"])))
        patiently("none is found", lambda: "EdgedMissing" in seen.look(prometheus))
        with plagued.running(config) as daemon:
            falls_ill_and_gets_well(plagued, daemon, prometheus, seen)
            assert conserves(daemon.stop())
            patiently("it is missed", lambda: "EdgedDown" in seen.look(prometheus))
        with plagued.running({**config, "publish": plagued.config(insecure=False)["publish"]}):
            patiently("all alerts end", lambda: not prometheus.firing())
            seen.fires_still |= prometheus.firing()
        seen.health = {rule["name"]: rule.get("lastError", "") for rule in prometheus.rules()}
    return seen


def falls_ill_and_gets_well(plagued: Plagued, daemon: Daemon, prometheus: Prometheus, seen: Seen) -> None:
    patiently("it works", lambda: prometheus.values("count(rate(edged_predictions_total[3s]) > 0)") == [4])
    time_the_layers(daemon)
    plagued.fall_ill(daemon)
    plagued.killed = frozenset({"0"})
    patiently("all alerts but those fire", lambda: seen.look(prometheus) >= ALERTS - NO_WORKER - ABSENT)
    patiently("all is answered", lambda: seen.ask_all(prometheus))
    plagued.killed = frozenset({"0", "1"})
    patiently("those fire too", lambda: seen.look(prometheus) >= ALERTS - ABSENT)
    plagued.heal(daemon)
    patiently("they end", lambda: prometheus.firing() <= {"EdgedInsecure"})
    seen.fires_still = prometheus.firing() - {"EdgedInsecure"}
    print(daemon.log() if seen.fires_still else "all have ended")


def patiently(what: str, condition: Callable[[], bool]) -> None:
    """Wait for it; what has not come about by then, the tests below name."""
    begin = time.monotonic()
    with suppress(AssertionError):
        eventually(condition)
    print(f"{time.monotonic() - begin:.0f} s until {what}")


def in_a_hurry(folder: Path, address: str) -> dict[str, Any]:
    """The project's own config, for this board, with short times; its rules are written to `folder`."""
    config: dict[str, Any] = yaml.safe_load(PROMETHEUS.read_text())
    (folder / "rules").mkdir()
    for file in RULES_FILES:
        (folder / "rules" / file.name).write_text(yaml.safe_dump(hurried_rules(file)))
    every = f"{1000 * EVERY_S:.0f}ms"
    config["global"] |= {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every}
    for job in config["scrape_configs"]:
        job["http_sd_configs"] = [{"url": f"http://{address}/targets", "refresh_interval": every}]
    return config


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("dashboard", [file.stem for file in FILES])
def test_every_panel_has_data_and_a_legend_of_labels_that_are_there(
    seen: Seen, dashboard: str, chosen: str
) -> None:
    asked = {target: seen.answers[target, chosen] for target in TARGETS if target.dashboard == dashboard}
    without_data = [
        (target.panel, target.as_grafana_asks(CHOSEN[chosen])) for target in asked if not asked[target]
    ]
    assert not without_data
    assert not [(target.panel, target.legend) for target, series in asked.items() if not target.fits(series)]


def test_every_recording_rule_has_data(seen: Seen) -> None:
    assert seen.records.keys() == {name for name, series in seen.records.items() if series}


@pytest.mark.parametrize("alert", sorted(ALERTS))
def test_an_alert_fires_while_its_fault_is_there_and_no_longer(seen: Seen, alert: str) -> None:
    assert alert in seen.fired
    assert alert not in seen.fires_still
    assert not seen.health[alert]
