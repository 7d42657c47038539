"""The peaks of a device: its kernels do the work which they are timed for."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.opencl import cl
from edged.engine.peaks import CHAINS, PeakBench, Peaks, ReadBenchmark, measure, multiply_add


@pytest.fixture(scope="module")
def bench(device: Device) -> PeakBench:
    return PeakBench(device)


def copy_of(bench: PeakBench, memory: Any) -> NDArray[np.float32]:
    found = np.empty(memory.size // 4, np.float32)
    cl.enqueue_copy(bench.queue, found, memory)
    return found


@pytest.mark.parametrize("operation", ["mad", "fma"])
def test_every_sum_of_every_work_item_is_computed(bench: PeakBench, operation: str) -> None:
    kernel = bench.kernel("peak_flops", CHAINS=CHAINS, MULTIPLY_ADD=operation)
    out = bench.buffer(bench.items * bench.width * 4)

    multiply_add(bench, kernel, out, steps=64)

    assert (copy_of(bench, out) == 2 * CHAINS).all()


def test_every_float_of_the_buffer_is_read_once(bench: PeakBench) -> None:
    reading = ReadBenchmark(bench, most_bytes=3 << 20)

    reading.seconds()

    assert copy_of(bench, reading.out).sum() == reading.nbytes / 4


@pytest.mark.deep
def test_a_device_has_both_peaks(device: Device) -> None:
    peaks = measure(device)

    assert peaks.flops_per_s > 0
    assert peaks.bytes_per_s > 0


def test_the_slower_of_arithmetic_and_memory_bounds_a_kernel() -> None:
    peaks = Peaks(flops_per_s=100.0, bytes_per_s=10.0)

    assert peaks.least_s(flops=400, nbytes=10) == 4
    assert peaks.least_s(flops=100, nbytes=50) == 5
