"""Find the dot products that the kernels of a device may use: each is tried once, in a process of its own.

A compiler that does not know an instruction may end its process. What was found is kept in the cache, for this
device, driver and version of edged.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.apart import read_request, run_apart
from edged.engine.compiling import compile_source
from edged.engine.device import Device, open_device
from edged.engine.instructions import AVX512_BF16, KHR_DOT, LANES, LOWEST, NUMBERS, processor_instructions
from edged.engine.layout import bfloat16_bits
from edged.engine.opencl import cl
from edged.engine.programs import compiler_options, source_of, takes_assembly, takes_builtins
from edged.errors import DeviceError
from edged.system.disk_cache import CacheEntries, code_sha256
from edged.system.paths import cache_directory

MODULE = "edged.engine.instruction_trials"
RIGHT = ""

log = logging.getLogger("edged.engine")

Array = NDArray[Any]


def with_instructions(device: Device, cache: Path | None = None) -> Device:
    """Return the device with the instructions that it computes correctly. `cache`: None for the user's."""
    return replace(device, instructions=tuple(name for name, why in trials(device, cache).items() if why == RIGHT))


def trials(device: Device, cache: Path | None = None) -> Mapping[str, str]:
    """Return the dot products that may be there, each with why the device may not use it; empty: it may."""
    offered = _offered(device)
    if not offered:
        return {}
    if takes_builtins(device) and not takes_assembly(device):
        why = f"{device.name}: no use of {{}}: its driver, {device.driver}, ends the process at inline assembly"
        return {name: why.format(name) for name in offered}
    entries = CacheEntries((cache or cache_directory()) / "instructions", "trial")
    described = [device.platform, device.name, device.version, device.driver, code_sha256("edged.engine")]
    key = sha256(json.dumps(described).encode()).hexdigest()
    kept = entries.load(key)
    found = json.loads(bytes(kept)) if kept else {}
    if tuple(found) != offered:
        found = _tried(device, offered)
        try:
            entries.save(key, [json.dumps(found).encode()])
        except OSError as error:
            log.warning("trials of instructions cannot be kept, so the next start will repeat them: %s", error)
    return found


def _offered(device: Device) -> tuple[str, ...]:
    """Return those of the processor where kernels reach them, else those of the driver.

    On a CPU the driver's are no instructions of the processor.
    """
    if takes_builtins(device):
        return processor_instructions()
    return (KHR_DOT,) if device.integer_dot else ()


def _tried(device: Device, names: Sequence[str]) -> dict[str, str]:
    """Try all at once: most of the time each process only starts.

    What failed is tried once more, alone: a process may also fail for want of memory, and what is found is kept.
    """
    with ThreadPoolExecutor(len(names)) as pool:
        found = dict(zip(names, pool.map(partial(_try, device), names), strict=True))
    return {name: why if why == RIGHT else _try(device, name) for name, why in found.items()}


def _try(device: Device, name: str) -> str:
    try:
        run_apart(MODULE, device, {"instruction": name}, f"use of {name}")
    except DeviceError as error:
        log.info("%s", error)
        return str(error)
    return RIGHT


def main() -> None:
    """Be the process that tries an instruction, and fails where the compiler or the processor lacks it."""
    device, request = read_request()
    try_instruction(device, request["instruction"])


def try_instruction(device: Device, name: str) -> None:
    """Compute exact products and sums. Raises DeviceError if they are wrong, or what the compiler raises."""
    random, lanes = np.random.default_rng(0), LANES[name]
    if name == AVX512_BF16:
        a, b = random.integers(-8, 9, (2, lanes, 2))
        memory: list[Array] = [bfloat16_bits(numbers.astype(np.float32)) for numbers in (a, b)]
    else:
        a, b = random.integers(0, 256, (lanes, 4)), random.integers(-128, 128, (lanes, 4))
        memory = [a.astype(np.uint8), b.astype(np.int8)]
    sums = np.arange(lanes, dtype=np.float32 if name == AVX512_BF16 else np.int32)
    expected = sums + ((a + LOWEST.get(name, 0)) * b).sum(axis=1)
    if not np.array_equal(_on_device(device, name, memory, sums), expected):
        raise DeviceError(f"{name} computes wrongly")


def _on_device(device: Device, name: str, numbers: Sequence[Array], sums: Array) -> Array:
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context)
    kind = "float" if sums.dtype == np.float32 else "int"
    options = [*compiler_options(device), f"-DDOT={NUMBERS[name]}", f"-DLANES={LANES[name]}", f"-DSUM={kind}"]
    kernel = cl.Kernel(compile_source(context, device, source_of("dot_trial"), options), "dot_trial")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(x)) for x in (*numbers, sums)]
    kernel.set_args(*buffers)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    found = np.empty_like(sums)
    cl.enqueue_copy(queue, found, buffers[2])
    return found


if __name__ == "__main__":
    main()
