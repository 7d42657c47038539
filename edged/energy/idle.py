"""What rails draw anyway: measured once for each start of the machine, and kept for the next start of a worker."""

import logging
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from edged.energy.find import Rails
from edged.energy.meter import Meter
from edged.system.atomic_file import replace_file

BOOT = Path("/proc/sys/kernel/random/boot_id")

log = logging.getLogger("edged.energy")


class IdleRecord(BaseModel):
    """What the file holds: watts by rail, measured over so many seconds since that start of the machine."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    boot: str
    seconds: float
    watts: dict[str, float]


def meter_of(rails: Rails, folder: Path) -> Meter:
    """Return the meter of a worker, for what a config asks. `folder`: where to keep what it draws when idle."""
    energy = rails.energy
    watts = energy.watts_per_core if rails.method == "estimated" else None
    meter = Meter(
        rails.rails, attributed_rails=rails.attributed_rails, watts_per_core=watts, sample_hz=energy.sample_hz
    )
    if energy.idle_s and meter.rails:
        meter.idle_watts = idle_watts(meter, energy.idle_s, folder / "idle-watts.json")
    return meter


def watts_over(meter: Meter, seconds: float) -> dict[str, float]:
    """Watts of each rail that was read all the time, over so many seconds in which this process does nothing."""
    meter.start_job()
    time.sleep(seconds)
    since = meter.start_job()
    return {name: since.added[name] / since.seconds for name in meter.rails if name in since.whole}


def idle_watts(meter: Meter, seconds: float, path: Path) -> dict[str, float]:
    """The same, or what the file at `path` says of it: a worker that is started again waits for nothing."""
    boot = BOOT.read_text().strip()
    kept = _read_record(path)
    if kept and (kept.boot, kept.seconds, kept.watts.keys()) == (boot, seconds, meter.rails):
        return kept.watts
    watts = watts_over(meter, seconds)
    told = ", ".join(f"{name} {each:.3g} W" for name, each in watts.items())
    log.info("idle, over %g s: %s", seconds, told or "no rail")
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
