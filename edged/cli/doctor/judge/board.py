"""Judge the facts: what is well, what to know, and what must be fixed, by which command. Functions on values."""

import re
from collections.abc import Iterator
from typing import Literal

from edged.cli.check.finding import Finding
from edged.cli.doctor.facts import Disk, Facts, Judgement, Level, RunningWorker, ServiceUnit, System
from edged.cli.doctor.judge.devices import judge_devices, judge_drivers
from edged.system.own_command import own_command

GIB, MIB = 2**30, 2**20
LOW_MEMORY = 256 * MIB  # available: ResNet-50 alone holds 102 MB of weights
LOW_DISK = 512 * MIB  # what the caches may grow to
NEAR_C = 5.0  # below the temperature at which the kernel slows something down

LEVELS: dict[Literal["ok", "warning", "error"], Level] = {"ok": "ok", "warning": "note", "error": "fix"}
RUNS = "runs the model"
IN_USE = "is in use"  # what `edged check` says of an address
AS_SERVICE = (
    "sudo -u edged env STATE_DIRECTORY=/var/lib/edged RUNTIME_DIRECTORY=/run/edged "
    "CACHE_DIRECTORY=/var/cache/edged edged doctor"
)


def judge(facts: Facts) -> tuple[Judgement, ...]:
    """Return the whole page, in its order."""
    return (
        *_system(facts.system),
        *judge_drivers(facts.drivers, facts.devices, facts.user),
        *judge_devices(facts),
        *_cameras(facts),
        *_rails(facts),
        *judge_running(facts),
    )


def _system(system: System) -> Iterator[Judgement]:
    processor = ", ".join(filter(None, (system.processor, f"{system.processors} processors")))
    yield Judgement("System", "ok", "board", f"{system.board}; {processor}")
    versions = f"Linux {system.kernel}, {system.architecture}, Python {system.python}"
    yield Judgement("System", "ok", "system", f"{system.system}, {versions}; edged {system.edged}")
    yield _memory(system)
    yield from (_disk(disk) for disk in system.disks)
    yield from _clocks(system)
    yield from _heat(system)


def _memory(system: System) -> Judgement:
    text = f"{system.available / GIB:.1f} of {system.memory / GIB:.1f} GiB are available"
    if system.available >= LOW_MEMORY:
        return Judgement("System", "ok", "memory", text)
    return Judgement("System", "fix", "memory", f"{text}: stop other programs", ("ps aux --sort=-rss | head",))


def _disk(disk: Disk) -> Judgement:
    what = f"disk of {disk.what}"
    text = f"{disk.free / GIB:.1f} of {disk.total / GIB:.1f} GiB are free at {disk.path}"
    if not disk.writable:
        return Judgement("System", "fix", what, f"{disk.path} is not writable by this user")
    if disk.free < LOW_DISK:
        return Judgement(
            "System", "fix", what, f"{text}: free at least 0.5 GiB", (f"du -xh {disk.path} | sort -h",)
        )
    if disk.temporary:
        return Judgement("System", "note", what, f"{text}, in memory: a restart of the board empties it")
    return Judgement("System", "ok", what, text)


def _clocks(system: System) -> Iterator[Judgement]:
    for domain, frequency in system.host.frequencies.items():
        governor = system.governors.get(domain, "")
        text = f"{frequency.now / 1e6:.0f} of {frequency.maximum / 1e6:.0f} MHz, governor {governor or 'unknown'}"
        if frequency.limit < frequency.maximum:
            held = f"{text}; held at {frequency.limit / 1e6:.0f} MHz: by heat, or by a setting"
            yield Judgement("System", "note", f"clock {domain}", held)
        elif governor == "powersave" and frequency.now < frequency.maximum:
            faster = (f"echo performance | sudo tee {_governor_file(domain)}",)
            yield Judgement("System", "note", f"clock {domain}", text, faster)
        else:
            yield Judgement("System", "ok", f"clock {domain}", text)


def _governor_file(domain: str) -> str:
    if domain.startswith("policy"):
        return f"/sys/devices/system/cpu/cpufreq/{domain}/scaling_governor"
    return f"/sys/class/devfreq/{domain}/governor"


def _heat(system: System) -> Iterator[Judgement]:
    for sensor, celsius in system.host.celsius.items():
        trip = system.trips.get(sensor)
        text = f"{celsius:.0f} °C" + (f", the kernel acts at {trip:.0f} °C" if trip else "")
        if trip and celsius > trip - NEAR_C:
            yield Judgement("System", "fix", f"heat {sensor}", f"{text}: cool the board (heat sink, fan, place)")
        else:
            yield Judgement("System", "ok", f"heat {sensor}", text)


def _cameras(facts: Facts) -> Iterator[Judgement]:
    for camera in facts.cameras:
        if not camera.problem:
            yield Judgement("Cameras", "ok", camera.path, camera.name)
            continue
        remedy = (f"sudo usermod -aG video {facts.user}  # then log in again",)
        is_permission = camera.problem.startswith("permission denied")
        text = f"{camera.name}: {camera.problem}"
        yield Judgement("Cameras", "fix", camera.path, text, remedy if is_permission else ())
    if not facts.cameras:
        yield Judgement("Cameras", "ok", "V4L2", "none; URLs, videos, folders and synthetic:digits need none")


def _rails(facts: Facts) -> Iterator[Judgement]:
    if facts.rails:
        yield Judgement("Power", "ok", "rails", ", ".join(facts.rails))
    for rail in facts.unreadable_rails:
        yield Judgement("Power", "fix", f"rail {rail.name}", f"{rail.reason}: {rail.path}", rail.remedies)
    if not facts.rails and not facts.unreadable_rails:
        yield Judgement("Power", "ok", "rails", facts.rails_note)


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
        remedy = f"{own_command()} check {facts.config_file}"
        yield Judgement("Config", "fix", "config", facts.config_problem, (remedy,))
    else:
        others = f", and {', '.join(facts.overrides)}" if facts.overrides else ""
        yield Judgement("Config", "ok", "config", f"{facts.config_file}{others}")
    for finding in facts.checked:
        if finding.level == "error" and IN_USE in finding.text and facts.unit and facts.unit.is_active:
            text = f"{finding.text}; the service runs, so it may be the one: run this as its user"
            yield Judgement("Config", "note", finding.what, text, (AS_SERVICE,))
        elif finding.what != "config":
            yield Judgement("Config", LEVELS[finding.level], finding.what, finding.text)


def _unit(unit: ServiceUnit) -> Judgement:
    text = f"{unit.state}, {unit.enabled}, restarts: {unit.restarts}"
    if unit.state.startswith("failed") or unit.result != "success":
        remedy = ("journalctl -u edged -p warning -n 30",)
        return Judgement("Service", "fix", "edged.service", f"{text}, last result: {unit.result}", remedy)
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
            yield Judgement("Service", "fix", node.path, text, remedy)


def _workers(facts: Facts) -> Iterator[Judgement]:
    checked = () if facts.config_problem else facts.checked  # the daemon runs by what the file was before
    promised = {finding.what.removeprefix("worker "): finding for finding in checked if _is_worker(finding)}
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
        return Judgement("Service", "fix", f"worker {worker.name}", differs, ("sudo systemctl restart edged",))
    if promised and RUNS in promised.text and not worker.serving:
        return Judgement("Service", "fix", f"worker {worker.name}", f"{text}; it should serve", remedy)
    return Judgement("Service", "ok", f"worker {worker.name}", text)
