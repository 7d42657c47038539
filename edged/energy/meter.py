"""Attribute joules to jobs, from the energy of the rails; measure their idle power once per boot, and keep it."""

import logging
import time
from collections.abc import Collection, KeysView, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from edged.clock import NANOSECONDS, now_ns
from edged.energy.find import Rails
from edged.energy.rails import Rail
from edged.energy.reader import CounterSum, EnergyLevel, ProcessorTime, RailSum, Reader, Sampler
from edged.system.files import replace_file

LONGEST_OWED_S = 1.0  # longer than the interval of any counter: after it the rails draw less than idle

Joules = Mapping[str, float]  # by rail

BOOT = Path("/proc/sys/kernel/random/boot_id")

log = logging.getLogger("edged.energy")


@dataclass(frozen=True)
class JobEnergy:
    """The energy of a job, and the joules of each rail since the last report.

    `joules` is None if no rail is read, or if one of the attributed rails had a gap (a reset, a reading that
    failed). `idle`: joules that were subtracted, since the rails would have supplied them anyway.
    """

    joules: float | None
    rails: dict[str, float]
    idle: float = 0.0


class Meter:
    """Attributes each joule to one job: the one that finishes next after the device was last idle.

    So with overlapping jobs, a job gets the energy between the previous completion and its own, and the sum over
    jobs is the counters' own difference. The energy of an idle device is reported, but belongs to no job.
    """

    def __init__(
        self,
        rails: Sequence[Rail],
        *,
        attributed_rails: Collection[str] | None = None,
        watts_per_core: float | None = None,
        sample_hz: float = 10.0,
    ) -> None:
        """Prepare to measure. `attributed_rails`: rails whose joules are attributed to jobs, None for all.

        `watts_per_core`: power of a busy core, for an estimate where there are no rails.
        """
        counters = [rail for rail in rails if rail.gives == "joules"]
        self._reader = Reader(counters)
        self._counted = {rail.name: CounterSum(rail.range_joules) for rail in counters}
        self._sampler = Sampler([rail for rail in rails if rail.gives == "watts"], sample_hz)
        self._sums: dict[str, RailSum] = {**self._counted, **self._sampler.sums}
        if watts_per_core and not rails:
            self._sums[ProcessorTime.NAME] = ProcessorTime(watts_per_core)
        self._attributed = frozenset(self._sums if attributed_rails is None or not rails else attributed_rails)
        self.idle_watts: dict[str, float] = {}
        self._levels: dict[str, EnergyLevel] = {}
        self._since_ns = now_ns()
        self._unreported: dict[str, float] = {}
        self._owed = 0.0  # idle joules still to be subtracted: a counter may be slower than a job
        self._advance()

    @property
    def rails(self) -> KeysView[str]:
        return self._sums.keys()

    @property
    def attributed_rails(self) -> tuple[str, ...]:
        """Return the rails whose joules are attributed to jobs.

        One that is not read leaves every job without a value.
        """
        return tuple(sorted(self._attributed))

    def start_job(self) -> "Interval":
        """Start a job on an idle device, and return the energy spent before, which is not the job's."""
        since = self._advance()
        self._unreported = _sum(self._unreported, since.added)
        return since

    def finish_job(self) -> JobEnergy:
        """Return the energy of the job that finishes now."""
        since = self._advance()
        self._unreported = _sum(self._unreported, since.added)
        by_rail = self.pop_rail_joules()
        if not self._attributed or not self._attributed <= since.whole:
            return JobEnergy(None, by_rail)
        joules = sum(since.added[rail] for rail in self._attributed)
        idle_watts = sum(self.idle_watts.get(rail, 0.0) for rail in self._attributed)
        idle = self._owed + since.seconds * idle_watts
        taken_off = min(joules, idle)
        self._owed = min(idle - taken_off, LONGEST_OWED_S * idle_watts)
        return JobEnergy(joules - taken_off, by_rail, taken_off)

    def pop_rail_joules(self) -> dict[str, float]:
        """Return the joules of each rail up to the last `start_job` or `finish_job`, since the previous call."""
        by_rail, self._unreported = self._unreported, {}
        return by_rail

    def close(self) -> None:
        self._reader.close()
        self._sampler.close()

    def _advance(self) -> "Interval":
        readings = self._reader.read() if self._counted else {}
        for name, counted in self._counted.items():
            counted.add_reading(readings.get(name))
        levels = {name: rail.level() for name, rail in self._sums.items()}
        at_ns = now_ns()
        interval = _between(self._levels, levels, (at_ns - self._since_ns) / NANOSECONDS)
        self._levels, self._since_ns = levels, at_ns
        return interval


@dataclass(frozen=True, slots=True)
class Interval:
    """Joules by rail, and the rails without a gap."""

    added: Joules
    whole: frozenset[str]
    seconds: float


def _between(before: Mapping[str, EnergyLevel], now: Mapping[str, EnergyLevel], seconds: float) -> Interval:
    added, whole = {}, []
    for name in before.keys() & now.keys():
        begin, end = before[name], now[name]
        added[name] = max(0.0, end.joules - begin.joules)
        if end.known is not None and end.known == begin.known:
            whole.append(name)
    return Interval(added, frozenset(whole), seconds)


def _sum(some: Joules, more: Joules) -> dict[str, float]:
    return {name: some.get(name, 0.0) + more.get(name, 0.0) for name in {**some, **more}}


class IdleRecord(BaseModel):
    """The content of the file: watts by rail, and for how many seconds they were measured since that boot."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    boot: str
    seconds: float
    watts: dict[str, float]


def meter_of(rails: Rails, folder: Path) -> Meter:
    """Return the meter of a worker, as the config requires. `folder`: where to keep the idle power."""
    energy = rails.energy
    watts = energy.watts_per_core if rails.method == "estimated" else None
    meter = Meter(
        rails.rails, attributed_rails=rails.attributed_rails, watts_per_core=watts, sample_hz=energy.sample_hz
    )
    if energy.idle_s and meter.rails:
        meter.idle_watts = idle_watts(meter, energy.idle_s, folder / "idle-watts.json")
    return meter


def watts_over(meter: Meter, seconds: float) -> dict[str, float]:
    """Measure the watts of each rail that was read all the time, over so many idle seconds."""
    meter.start_job()
    time.sleep(seconds)
    since = meter.start_job()
    return {name: since.added[name] / since.seconds for name in meter.rails if name in since.whole}


def idle_watts(meter: Meter, seconds: float, path: Path) -> dict[str, float]:
    """Return the idle power from the file at `path`, or measure and save it.

    A worker that restarts does not wait.
    """
    boot = BOOT.read_text().strip()
    kept = _read_record(path)
    if kept and (kept.boot, kept.seconds, kept.watts.keys()) == (boot, seconds, meter.rails):
        return kept.watts
    watts = watts_over(meter, seconds)
    listed = ", ".join(f"{name} {each:.3g} W" for name, each in watts.items())
    log.info("idle, over %g s: %s", seconds, listed or "no rail")
    _write_record(IdleRecord(boot=boot, seconds=seconds, watts=watts), path)
    return watts


def _read_record(path: Path) -> IdleRecord | None:
    try:
        return IdleRecord.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _write_record(kept: IdleRecord, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, durable=False) as file:
            file.write(kept.model_dump_json().encode())
    except OSError as error:
        log.warning("%s cannot be kept (%s): it will be measured again at the next start", path, error)
