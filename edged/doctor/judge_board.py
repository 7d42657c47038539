"""Judge the facts: what is well, what to know, and what must be fixed, by which command: functions on values."""

from collections.abc import Iterator

from edged.doctor.facts import Disk, Facts, RunningWorker, ServiceUnit, System
from edged.doctor.finding import Finding, Kind, in_section
from edged.doctor.judge_devices import judge_devices, judge_drivers
from edged.system.own_command import own_command

GIB, MIB = 2**30, 2**20
LOW_MEMORY = 256 * MIB  # available: ResNet-50 alone holds 102 MB of weights
LOW_DISK = 512 * MIB  # what the caches may grow to
NEAR_C = 5.0  # below the temperature at which the kernel slows something down

AS_SERVICE = (
    "sudo -u edged env STATE_DIRECTORY=/var/lib/edged RUNTIME_DIRECTORY=/run/edged "
    "CACHE_DIRECTORY=/var/cache/edged edged doctor"
)


def judge(facts: Facts) -> tuple[Finding, ...]:
    """Return the whole page, in its order."""
    return (
        *in_section("System", _system(facts.system)),
        *in_section("Drivers", judge_drivers(facts.drivers, facts.devices, facts.user)),
        *judge_devices(facts),
        *in_section("Cameras", _cameras(facts)),
        *in_section("Power", _rails(facts)),
        *judge_running(facts),
    )


def _system(system: System) -> Iterator[Finding]:
    processor = ", ".join(filter(None, (system.processor, f"{system.processors} processors")))
    yield Finding("ok", "board", f"{system.board}; {processor}")
    versions = f"Linux {system.kernel}, {system.architecture}, Python {system.python}"
    yield Finding("ok", "system", f"{system.system}, {versions}; edged {system.edged}")
    memory = f"{system.available / GIB:.1f} of {system.memory / GIB:.1f} GiB are available"
    if system.available >= LOW_MEMORY:
        yield Finding("ok", "memory", memory)
    else:
        yield Finding("error", "memory", f"{memory}: stop other programs", ("ps aux --sort=-rss | head",))
    yield from (_disk(disk) for disk in system.disks)
    yield from _clocks(system)
    yield from _heat(system)


def _disk(disk: Disk) -> Finding:
    what = f"disk of {disk.what}"
    text = f"{disk.free / GIB:.1f} of {disk.total / GIB:.1f} GiB are free at {disk.path}"
    if not disk.writable:
        return Finding("error", what, f"{disk.path} is not writable by this user")
    if disk.free < LOW_DISK:
        return Finding("error", what, f"{text}: free at least 0.5 GiB", (f"du -xh {disk.path} | sort -h",))
    if disk.temporary:
        return Finding("warning", what, f"{text}, in memory: a restart of the board empties it")
    return Finding("ok", what, text)


def _clocks(system: System) -> Iterator[Finding]:
    for domain, frequency in system.host.frequencies.items():
        governor = system.governors.get(domain, "")
        text = f"{frequency.now / 1e6:.0f} of {frequency.maximum / 1e6:.0f} MHz, governor {governor or 'unknown'}"
        if frequency.limit < frequency.maximum:
            held = f"{text}; held at {frequency.limit / 1e6:.0f} MHz: by heat, or by a setting"
            yield Finding("warning", f"clock {domain}", held)
        elif governor == "powersave" and frequency.now < frequency.maximum:
            faster = (f"echo performance | sudo tee {_governor_file(domain)}",)
            yield Finding("warning", f"clock {domain}", text, faster)
        else:
            yield Finding("ok", f"clock {domain}", text)


def _governor_file(domain: str) -> str:
    if domain.startswith("policy"):
        return f"/sys/devices/system/cpu/cpufreq/{domain}/scaling_governor"
    return f"/sys/class/devfreq/{domain}/governor"


def _heat(system: System) -> Iterator[Finding]:
    for sensor, celsius in system.host.celsius.items():
        trip = system.trips.get(sensor)
        text = f"{celsius:.0f} °C" + (f", the kernel acts at {trip:.0f} °C" if trip else "")
        if trip and celsius > trip - NEAR_C:
            yield Finding("error", f"heat {sensor}", f"{text}: cool the board (heat sink, fan, place)")
        else:
            yield Finding("ok", f"heat {sensor}", text)


def _cameras(facts: Facts) -> Iterator[Finding]:
    for camera in facts.cameras:
        if not camera.problem:
            yield Finding("ok", camera.path, camera.name)
            continue
        remedy = (f"sudo usermod -aG video {facts.user}  # then log in again",)
        is_permission = camera.problem.startswith("permission denied")
        text = f"{camera.name}: {camera.problem}"
        yield Finding("error", camera.path, text, remedy if is_permission else ())
    if not facts.cameras:
        yield Finding("ok", "V4L2", "none; URLs, videos, folders and synthetic:digits need none")


def _rails(facts: Facts) -> Iterator[Finding]:
    if facts.rails:
        yield Finding("ok", "rails", ", ".join(facts.rails))
    for rail in facts.unreadable_rails:
        yield Finding("error", f"rail {rail.name}", f"{rail.reason}: {rail.path}", rail.remedies)
    if not facts.rails and not facts.unreadable_rails:
        yield Finding("ok", "rails", facts.rails_note)


def judge_running(facts: Facts) -> Iterator[Finding]:
    """Judge what the config promises, then what runs."""
    yield from in_section("Config", _config(facts))
    yield from in_section("Service", _service(facts))


def _service(facts: Facts) -> Iterator[Finding]:
    if facts.unit:
        yield _unit(facts.unit)
        yield from _groups(facts, facts.unit)
    else:
        yield Finding("ok", "edged.service", "not installed, or no systemd here")
    yield from _workers(facts)


def _config(facts: Facts) -> Iterator[Finding]:
    if facts.config_problem:
        remedy = f"{own_command()} check {facts.config_file}"
        yield Finding("error", "config", facts.config_problem, (remedy,))
    else:
        others = f", and {', '.join(facts.overrides)}" if facts.overrides else ""
        yield Finding("ok", "config", f"{facts.config_file}{others}")
    for finding in facts.checked:
        if finding.kind is Kind.ADDRESS_IN_USE and facts.unit and facts.unit.is_active:
            text = f"{finding.text}; the service runs, so it may be the one: run this as its user"
            yield Finding("warning", finding.what, text, (AS_SERVICE,))
        elif finding.what != "config":
            yield finding


def _unit(unit: ServiceUnit) -> Finding:
    text = f"{unit.state}, {unit.enabled}, restarts: {unit.restarts}"
    if unit.state.startswith("failed") or unit.result != "success":
        remedy = ("journalctl -u edged -p warning -n 30",)
        return Finding("error", "edged.service", f"{text}, last result: {unit.result}", remedy)
    is_on = unit.enabled.startswith("enabled")
    enable: tuple[str, ...] = () if is_on else ("sudo systemctl enable --now edged",)
    return Finding("ok" if is_on else "warning", "edged.service", text, enable)


def _groups(facts: Facts, unit: ServiceUnit) -> Iterator[Finding]:
    """Report device files that the service's user may not open."""
    for node in facts.drivers.nodes:
        is_open = node.mode[7:9] == "rw" or (node.group in unit.groups and node.mode[4:6] == "rw")
        if not is_open:
            text = f"{node.mode}, group {node.group}: the service, in {', '.join(unit.groups)}, may not open it"
            remedy = (f"sudo systemctl edit edged  # [Service] SupplementaryGroups=video render {node.group}",)
            yield Finding("error", node.path, text, remedy)


def _workers(facts: Facts) -> Iterator[Finding]:
    checked = () if facts.config_problem else facts.checked  # the daemon runs by what the file was before
    promised = {finding.what.removeprefix("worker "): finding for finding in checked if finding.device}
    for worker in facts.workers:
        finding = promised.get(worker.name.rpartition("-")[2])
        yield _worker(worker, finding)


def _worker(worker: RunningWorker, promised: Finding | None) -> Finding:
    state = "serving" if worker.serving else "standby" if worker.ready else "not ready"
    text = f"{worker.device}, {state}"
    remedy = ("journalctl -u edged -p warning -n 30",)
    if promised and worker.ready and worker.device != promised.device:
        differs = f"{text}; `edged check` promises {promised.text}"
        return Finding("error", f"worker {worker.name}", differs, ("sudo systemctl restart edged",))
    if promised and promised.kind is Kind.SERVES and not worker.serving:
        return Finding("error", f"worker {worker.name}", f"{text}; it should serve", remedy)
    return Finding("ok", f"worker {worker.name}", text)
