"""Judge the facts: what is well, what to know, and what must be mended, by which command. Functions on values."""

from collections.abc import Iterator

from edged.cli.doctor.facts import Disk, Facts, Judgement, System
from edged.cli.doctor.judge.devices import judge_devices
from edged.cli.doctor.judge.drivers import judge_drivers
from edged.cli.doctor.judge.running import judge_running

GIB, MIB = 2**30, 2**20
LOW_MEMORY = 256 * MIB  # available: ResNet-50 alone holds 102 MB of weights
LOW_DISK = 512 * MIB  # what the caches may grow to
NEAR_C = 5.0  # below the temperature at which the kernel slows something down


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
    return Judgement("System", "mend", "memory", f"{text}: stop other programs", ("ps aux --sort=-rss | head",))


def _disk(disk: Disk) -> Judgement:
    what = f"disk of {disk.what}"
    text = f"{disk.free / GIB:.1f} of {disk.total / GIB:.1f} GiB are free at {disk.path}"
    if not disk.writable:
        return Judgement("System", "mend", what, f"{disk.path} is not writable by this user")
    if disk.free < LOW_DISK:
        return Judgement(
            "System", "mend", what, f"{text}: free at least 0.5 GiB", (f"du -xh {disk.path} | sort -h",)
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
            yield Judgement("System", "mend", f"heat {sensor}", f"{text}: cool the board (heat sink, fan, place)")
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
        yield Judgement("Cameras", "mend", camera.path, text, remedy if is_permission else ())
    if not facts.cameras:
        yield Judgement("Cameras", "ok", "V4L2", "none; URLs, videos, folders and synthetic:digits need none")


def _rails(facts: Facts) -> Iterator[Judgement]:
    if facts.rails:
        yield Judgement("Power", "ok", "rails", ", ".join(facts.rails))
    for rail in facts.unreadable_rails:
        yield Judgement("Power", "mend", f"rail {rail.name}", f"{rail.reason}: {rail.path}", rail.remedies)
    if not facts.rails and not facts.unreadable_rails:
        yield Judgement("Power", "ok", "rails", facts.rails_note)
