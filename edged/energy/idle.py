"""Measure the idle power of rails once per boot of the machine, and keep it for later starts of a worker."""

import logging
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from edged.energy.find import Rails
from edged.energy.meter import Meter
from edged.system.files import replace_file

BOOT = Path("/proc/sys/kernel/random/boot_id")

log = logging.getLogger("edged.energy")


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
