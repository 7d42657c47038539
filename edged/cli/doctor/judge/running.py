"""Judge the config, the unit and the running daemon: does what `edged check` promises run?"""

import re
from collections.abc import Iterator
from typing import Literal

from edged.cli.check.finding import Finding
from edged.cli.doctor.facts import Facts, Judgement, Level, RunningWorker, ServiceUnit

LEVELS: dict[Literal["ok", "warning", "error"], Level] = {"ok": "ok", "warning": "note", "error": "mend"}
RUNS = "runs the model"
IN_USE = "is in use"  # what `edged check` says of an address
AS_SERVICE = (
    "sudo -u edged env STATE_DIRECTORY=/var/lib/edged RUNTIME_DIRECTORY=/run/edged "
    "CACHE_DIRECTORY=/var/cache/edged edged doctor"
)


def judge_running(facts: Facts) -> Iterator[Judgement]:
    """Judge what the config promises, then what runs."""
    yield from _config(facts)
    if facts.unit:
        yield _unit(facts.unit)
        yield from _groups(facts, facts.unit)
    else:
        yield Judgement("Service", "ok", "edged.service", "not installed, or no systemd here")
    yield from _workers(facts)


def _config(facts: Facts) -> Iterator[Judgement]:
    if facts.config_problem:
        yield Judgement("Config", "mend", "config", facts.config_problem, (f"edged check {facts.config_file}",))
        return
    others = f", and {', '.join(facts.overrides)}" if facts.overrides else ""
    yield Judgement("Config", "ok", "config", f"{facts.config_file}{others}")
    for finding in facts.checked:
        if finding.level == "error" and IN_USE in finding.text and facts.unit and facts.unit.is_active:
            text = f"{finding.text}; the service runs, so it may be the one: run this as its user"
            yield Judgement("Config", "note", finding.what, text, (AS_SERVICE,))
        elif finding.what != "config":
            yield Judgement("Config", LEVELS[finding.level], finding.what, finding.text)


def _unit(unit: ServiceUnit) -> Judgement:
    text = f"{unit.state}, {unit.enabled}, {unit.restarts} restarts"
    if unit.state.startswith("failed") or unit.result != "success":
        remedy = ("journalctl -u edged -p warning -n 30",)
        return Judgement("Service", "mend", "edged.service", f"{text}, last result: {unit.result}", remedy)
    is_on = unit.enabled.startswith("enabled")
    enable: tuple[str, ...] = () if is_on else ("sudo systemctl enable --now edged",)
    return Judgement("Service", "ok" if is_on else "note", "edged.service", text, enable)


def _groups(facts: Facts, unit: ServiceUnit) -> Iterator[Judgement]:
    """Report device files that the service's user may not open."""
    for node in facts.drivers.nodes:
        is_open = node.mode[7:9] == "rw" or (node.group in unit.groups and node.mode[4:6] == "rw")
        if not is_open:
            text = f"{node.mode}, group {node.group}: the service, in {', '.join(unit.groups)}, may not open it"
            remedy = (f"sudo systemctl edit edged  # [Service] SupplementaryGroups=video render {node.group}",)
            yield Judgement("Service", "mend", node.path, text, remedy)


def _workers(facts: Facts) -> Iterator[Judgement]:
    promised = {finding.what.removeprefix("worker "): finding for finding in facts.checked if _is_worker(finding)}
    for worker in facts.workers:
        finding = promised.get(worker.name.rpartition("-")[2])
        yield _worker(worker, finding)


def _is_worker(finding: Finding) -> bool:
    return bool(re.fullmatch(r"worker \d+", finding.what)) and finding.level == "ok"


def _worker(worker: RunningWorker, promised: Finding | None) -> Judgement:
    state = "serving" if worker.serving else "standby" if worker.ready else "not ready"
    text = f"{worker.device}, {state}"
    remedy = ("journalctl -u edged -p warning -n 30",)
    if promised and worker.ready and worker.device not in promised.text:
        differs = f"{text}; `edged check` promises {promised.text}"
        return Judgement("Service", "mend", f"worker {worker.name}", differs, ("sudo systemctl restart edged",))
    if promised and RUNS in promised.text and not worker.serving:
        return Judgement("Service", "mend", f"worker {worker.name}", f"{text}; it should serve", remedy)
    return Judgement("Service", "ok", f"worker {worker.name}", text)
