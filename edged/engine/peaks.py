"""Measure peaks of a device: multiply-adds, and bytes read from memory, per second.

They are the two roofs of Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures" (2009). They are cached on disk, since a device in use by a daemon cannot be measured.
"""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged.engine.compiling import compile_source
from edged.engine.device import Device, open_device
from edged.engine.opencl import cl, device_errors
from edged.engine.programs import compiler_options, source_of
from edged.engine.tuning_records import file_name
from edged.system.disk_cache import CacheEntries
from edged.system.paths import cache_directory

CHAINS = 12  # enough for two units with a latency of four cycles or six, few enough for 16 registers
# work-groups per compute unit, so that all end at about the same time
GROUPS = {"cpu": 32, "gpu": 64, "accelerator": 64}
GPU_GROUP = 64  # work-items
READ_BYTES = 256 << 20  # far more than caches hold
READ_STEPS = 256  # vectors that a work-item reads
LONG_ENOUGH_S = 0.02  # enough to make the cost of a start negligible
RUNS = 8  # the best one counts: other load can only slow a run down

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Peaks:
    """Float32 operations (two per multiply-add), and bytes read from memory, per second."""

    flops_per_s: float
    bytes_per_s: float

    def least_s(self, flops: float, nbytes: float) -> float:
        """Return the roofline's bound: the least time for so many operations and bytes."""
        return max(flops / self.flops_per_s, nbytes / self.bytes_per_s)


def measure(device: Device) -> Peaks:
    """Keep the whole of `device` busy for about a second. Raises DeviceError."""
    with device_errors(device.name, "measuring its peaks"):
        bench = PeakBench(device)
        flops_per_s = max(_flops_per_s(bench, operation) for operation in ("mad", "fma"))
        reading = ReadBenchmark(bench, min(READ_BYTES, bench.memory_bytes // 8))
        return Peaks(flops_per_s, reading.nbytes / min(reading.seconds() for _ in range(RUNS)))


class PeakBench:
    """A queue on a device, with the vector and work-group sizes that suit it."""

    def __init__(self, device: Device) -> None:
        on_cpu = device.kind == "cpu"
        self.width = max(4, device.vector_width) if on_cpu else 4
        self.group = 1 if on_cpu else GPU_GROUP
        self.items = device.compute_units * GROUPS[device.kind] * self.group
        self.memory_bytes = device.memory_bytes
        self.device = device
        self.options = compiler_options(device)
        self.context = cl.Context([open_device(device)])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def kernel(self, name: str, **defines: int | str) -> Any:
        defines |= {"WIDTH": self.width, "GROUP": self.group}
        options = [*self.options, *(f"-D{key}={value}" for key, value in defines.items())]
        return cl.Kernel(compile_source(self.context, self.device, source_of(name), options), name)

    def buffer(self, nbytes: int) -> Any:
        """Return a buffer that was written once: untouched memory may not be allocated, and reads fast."""
        memory = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, nbytes)
        cl.enqueue_fill_buffer(self.queue, memory, np.ones(1, np.float32), 0, nbytes)
        return memory

    def seconds(self, kernel: Any, items: int) -> float:
        event = cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (self.group,))
        event.wait()
        return float(event.profile.end - event.profile.start) * 1e-9


def _flops_per_s(bench: PeakBench, operation: str) -> float:
    """Measure operations a second by `operation`, mad or fma: which one is faster depends on the device."""
    kernel = bench.kernel("peak_flops", CHAINS=CHAINS, MULTIPLY_ADD=operation)
    out = bench.buffer(bench.items * bench.width * 4)
    steps = 256
    while (seconds := multiply_add(bench, kernel, out, steps)) < LONG_ENOUGH_S:
        steps *= 2
    seconds = min(seconds, *(multiply_add(bench, kernel, out, steps) for _ in range(RUNS)))
    return 2 * CHAINS * bench.width * steps * bench.items / seconds


def multiply_add(bench: PeakBench, kernel: Any, out: Any, steps: int) -> float:
    """Run `peak_flops.cl` with x ← x / 2 + 1, whose x converges to 2; return its seconds."""
    kernel.set_args(out, np.int32(steps), np.float32(0.5), np.float32(1))
    return bench.seconds(kernel, bench.items)


class ReadBenchmark:
    """Runs `peak_bytes.cl` over up to `most_bytes` of ones.

    Work-items of a CPU read separate ranges, those of a GPU adjacent elements. `out`: a vector of sums from each.
    """

    def __init__(self, bench: PeakBench, most_bytes: int) -> None:
        item_bytes = READ_STEPS * bench.width * 4
        self._bench = bench
        self._items = most_bytes // item_bytes // bench.group * bench.group
        self.nbytes = self._items * item_bytes
        alone = bench.group == 1
        places = {"START": READ_STEPS, "STRIDE": 1} if alone else {"START": 1, "STRIDE": self._items}
        self._kernel = bench.kernel("peak_bytes", STEPS=READ_STEPS, **places)
        self._memory, self.out = bench.buffer(self.nbytes), bench.buffer(self._items * bench.width * 4)
        self._kernel.set_args(self._memory, self.out)

    def seconds(self) -> float:
        """Read the whole buffer once, and return the seconds."""
        return self._bench.seconds(self._kernel, self._items)


def keep_peaks(device: Device, peaks: Peaks, cache: Path | None = None) -> None:
    """Save peaks for `cached_peaks`; a failure is logged. `cache`: None for the user's."""
    content = json.dumps([peaks.flops_per_s, peaks.bytes_per_s]).encode()
    try:
        _entries(cache).save(file_name(device), [content])
    except OSError as error:
        log.warning("the peaks of %s cannot be kept: %s", device.name, error)


def cached_peaks(device: Device, cache: Path | None = None) -> Peaks | None:
    """Return the last measured peaks of this device with this driver, or None."""
    content = _entries(cache).load(file_name(device))
    return Peaks(*json.loads(bytes(content))) if content else None


def _entries(cache: Path | None) -> CacheEntries:
    return CacheEntries((cache or cache_directory()) / "peaks", "peaks")
