"""Choose PoCL's driver for a quick network: its threads, or the one that computes in the thread which submits.

Waking threads and waiting for them may take longer than what they save. That depends on network, processor and
system, so both drivers are measured in turn, after some of the worker's starts, while it serves: `python -m
edged.worker.driver_choice` is the process that has both. The next start takes the driver that won most trials.
"""

import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from statistics import median
from typing import TYPE_CHECKING

from edged.config import Config
from edged.errors import ConfigError, DeviceError
from edged.model.model_part import Features, Images, part_of
from edged.model.package import Model, load_model
from edged.runtime.base import ModelRuntime
from edged.runtime.drivers import identify_drivers
from edged.runtime.proven import proven_chooser
from edged.runtime.select import is_numpy, open_on_device, opencl_device, opencl_devices
from edged.runtime.threads import DRIVER, DRIVER_OF_ALL, DRIVER_OF_ONE
from edged.system.disk_cache import CacheEntries
from edged.system.paths import cache_directory

if TYPE_CHECKING:
    from edged.engine.device import Device

TRIAL = "edged.worker.driver_choice"
TRIAL_S = 120.0  # longest; most of it would be compiling
QUICK_S = 5e-3  # a forward pass that takes longer is faster with threads; and `basic` holds the interpreter's lock
TURNS = 15  # of each driver
TURN_S = 0.02  # length of a turn
SETTLED_AFTER = 100  # jobs in which a runtime chooses between one launch and several
TRIALS = 5  # one at a start
RESULT_BYTES = 1 << 16  # of all results on disk

log = logging.getLogger("edged.worker")


class DriverChoice:
    """The choice for one worker, unless its config or the user has made it."""

    def __init__(self, config: Config, index: int, model: Model) -> None:
        self._config, self._index = config, index
        self._worker = config.workers[index]
        self._is_open = self._worker.threads is None and not is_numpy(self._worker) and DRIVER not in os.environ
        settings = (self._worker.device, self._worker.precision, self._worker.batch, config.ends_of(index))
        decisive = (identify_drivers(), len(os.sched_getaffinity(0)), model.sha256, settings)
        self._key = sha256(repr(decisive).encode()).hexdigest()

    def take(self) -> None:
        """Let PoCL have the driver that was measured to be faster. Call it before OpenCL lists its devices."""
        if self._is_open and is_one_chosen(kept_trials(self._key)):
            os.environ[DRIVER] = DRIVER_OF_ONE

    def measure(self, forward_s: float) -> None:
        """Measure both drivers for the next start, unless that was done often enough or cannot matter.

        `forward_s`: time of a forward pass with the present driver.
        """
        if not self._is_open or forward_s > QUICK_S or len(before := kept_trials(self._key)) >= TRIALS:
            return
        from edged.engine.apart import run_apart

        try:
            device = opencl_device(self._worker.device)
            if not _is_cpu_of_pocl(device):
                return
            request = {"config": self._config.model_dump_json(), "index": str(self._index), "key": self._key}
            run_apart(TRIAL, device, request, "trial of PoCL's drivers", TRIAL_S)
        except DeviceError as error:
            log.info("%s; PoCL's driver stays", error)
            return
        if is_one_chosen(kept_trials(self._key)) and not is_one_chosen(before):
            log.info("one thread computes this network at least as fast as several: the next start takes one")


def _is_cpu_of_pocl(device: "Device") -> bool:
    """Return whether it is one, and PoCL has no other kind of device, which naming drivers would hide."""
    from edged.engine.device import POCL

    of_pocl = [each for each in opencl_devices() if each.platform == POCL]
    several = len(os.sched_getaffinity(0)) > 1
    return several and device in of_pocl and all(each.kind == "cpu" for each in of_pocl)


def _results() -> CacheEntries:
    """Raises ConfigError where there is no cache folder."""
    return CacheEntries(cache_directory() / "drivers", "faster", RESULT_BYTES)


def kept_trials(key: str) -> list[str]:
    """Return the driver that was faster in each trial."""
    with suppress(ConfigError):
        return bytes(_results().load(key) or b"").decode().split()
    return []


def keep_trial(key: str, driver: str) -> None:
    """Keep the result of another trial. Raises ConfigError or OSError where that is impossible."""
    _results().save(key, [" ".join([*kept_trials(key), driver]).encode()])


def is_one_chosen(trials: Sequence[str]) -> bool:
    """Return whether one thread was faster in most trials: other programs may have disturbed one of them."""
    return 2 * trials.count(DRIVER_OF_ONE) > len(trials)


def faster_driver(of_one: ModelRuntime, of_all: ModelRuntime, frames: Images | Features) -> str:
    """Return the driver to take, measured in turns. One thread wins a draw: it leaves the others to programs."""
    for runtime in (of_one, of_all):
        _compute(runtime, frames, SETTLED_AFTER)
    jobs = max(1, round(TURN_S / _compute(of_all, frames, 1)))
    ratios = [_compute(of_one, frames, jobs) / _compute(of_all, frames, jobs) for _ in range(TURNS)]
    return DRIVER_OF_ONE if median(ratios) <= 1 else DRIVER_OF_ALL


def _compute(runtime: ModelRuntime, frames: Images | Features, jobs: int) -> float:
    """Compute so many jobs, one after another, and return the seconds that they took."""
    start = time.perf_counter()
    for _ in range(jobs):
        runtime.submit(frames).wait()
    return time.perf_counter() - start


def _of_one_and_all(devices: Sequence["Device"], wanted: "Device") -> "tuple[Device, Device]":
    """Return PoCL's device with one thread and that with all. Raises DeviceError if PoCL has not made both."""
    same = (each for each in devices if (each.platform, each.name) == (wanted.platform, wanted.name))
    match sorted(same, key=lambda device: device.compute_units):
        case [of_one, of_all] if of_one.compute_units == 1:
            return of_one, of_all
        case found:
            raise DeviceError(f"PoCL has {len(found)} devices of that name with its drivers; expected two")


def main() -> None:
    """Measure both drivers as the request on standard input says, and keep the choice."""
    os.environ[DRIVER] = f"{DRIVER_OF_ALL} {DRIVER_OF_ONE}"
    from edged.engine.apart import read_request

    device, request = read_request()
    config, index = Config.model_validate_json(request["config"]), int(request["index"])
    part = part_of(load_model(config.model, lazily=True), *config.ends_of(index))
    worker = config.workers[index]
    of_one, of_all = (
        open_on_device(part, worker, each, chooser=proven_chooser(each))
        for each in _of_one_and_all(opencl_devices(), device)
    )
    for runtime in (of_one, of_all):
        runtime.compose()
    keep_trial(request["key"], faster_driver(of_one, of_all, part.noise(worker.batch)))


if __name__ == "__main__":
    main()
