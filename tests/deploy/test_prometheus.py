"""deploy/prometheus, by Prometheus' own tool."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged.metrics import Metrics
from tests.conftest import ROOT
from tests.e2e.certificates import new_authority, new_certificate

FOLDER = ROOT / "deploy/prometheus"
RULES = sorted(FOLDER.glob("rules/*.yml"))
TESTS = sorted(FOLDER.glob("tests/*.yml"))
CONFIGS = ("prometheus.yml", "fleet.yml")
STRICT = ("--lint=all", "--lint-fatal")
SECTIONS = [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]
ALERTS = {rule["alert"]: rule for group in SECTIONS for rule in group["rules"] if "alert" in rule}
EXPRESSIONS = [str(rule["expr"]) for group in SECTIONS for rule in group["rules"]]
PARTS = re.compile(r"\b(edged_[a-z_]+?)(?:_bucket|_sum|_count)?\b(?=[{\[\s)]|$)")


def promtool(*arguments: "str | Path", within: Path = FOLDER) -> str:
    """What it says; an error where it finds a mistake."""
    if not (tool := shutil.which("promtool")):
        pytest.skip("promtool is absent: apt install prometheus")
    run = subprocess.run([tool, *arguments], check=False, capture_output=True, text=True, timeout=60, cwd=within)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """deploy/prometheus, with the certificates that a fleet needs."""
    folder = tmp_path / "prometheus"
    shutil.copytree(FOLDER, folder)
    new_authority(folder, "ca")
    new_certificate(folder, "prometheus", "ca")
    return folder


@pytest.mark.parametrize("name", CONFIGS)
def test_promtool_finds_nothing_in_a_config(name: str, folder: Path) -> None:
    promtool("check", "config", *STRICT, name, within=folder)


def test_a_board_of_a_fleet_has_the_name_that_it_is_given_or_else_its_host_s(folder: Path) -> None:
    (folder / "fleet/more.yml").write_text('- targets: ["juno-03.example:9464"]')
    found = json.loads(promtool("check", "service-discovery", "--timeout=1s", "fleet.yml", "edged", within=folder))
    assert {each["labels"]["node"] for each in found} == {"juno-01", "juno-02", "juno-03.example"}


def test_promtool_finds_nothing_in_the_rules() -> None:
    promtool("check", "rules", *STRICT, *RULES)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_rules_do_what_their_tests_say(path: Path) -> None:
    assert "SUCCESS" in promtool("test", "rules", path)


def expectations() -> list[dict[str, Any]]:
    """All that the rule tests expect."""
    files = [yaml.safe_load(path.read_text())["tests"] for path in TESTS]
    return [each for tests in files for test in tests for each in test["promql_expr_test"]]


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_is_seen_to_fire_and_not_to_fire(alert: str) -> None:
    about = [each for each in expectations() if f'alertname="{alert}"' in each["expr"]]
    assert any(each["exp_samples"] for each in about), f"{alert} fires in no test"
    assert any(not each["exp_samples"] for each in about), f"{alert} fires in all tests"


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_how_bad_it_is_what_it_is_and_what_to_do(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook"}
    assert len(rule["annotations"]["runbook"]) > 100


def test_rules_ask_for_metrics_that_there_are() -> None:
    declared = {family.name for family in Metrics("1.2.3").registry.collect()}
    counters = {f"{name}_total" for name in declared}
    asked = {name for expression in EXPRESSIONS for name in PARTS.findall(expression)}
    assert len(asked) > 10
    assert asked - declared - counters == set()


@pytest.mark.parametrize("alert", ALERTS)
def test_the_page_about_monitoring_names_each_alert(alert: str) -> None:
    assert f"`{alert}`" in (ROOT / "docs/how-to/monitoring.md").read_text()


def test_the_page_about_monitoring_names_metrics_and_rules_that_there_are() -> None:
    page = (ROOT / "docs/how-to/monitoring.md").read_text()
    declared = {family.name for family in Metrics("1.2.3").registry.collect()}
    there = declared | {f"{name}_total" for name in declared} | {"edged_build_info"}
    assert set(re.findall(r"`(edged_\w+)", page)) - there == set()
    recorded = {rule["record"] for group in SECTIONS for rule in group["rules"] if "record" in rule}
    assert set(re.findall(r"`(edged:[\w:]+)`", page)) - recorded == set()
