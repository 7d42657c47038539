"""Load kernels from the cache of binaries, or compile them.

One program per kernel, so that an edit recompiles one.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from edged.engine.compiling import build, compile_source, shortened
from edged.engine.device import POCL, Device
from edged.engine.launch import Launch
from edged.engine.opencl import cl, device_errors
from edged.system.disk_cache import CacheEntries

log = logging.getLogger(__name__)
# a terminal shows what begins with "compiling" as one changing line, which any other message of this name erases
progress = logging.getLogger("edged.compiling")

LANGUAGE = "-cl-std=CL1.2"
STANDARD = (LANGUAGE, "-Werror")
WITHOUT_WARNINGS = (LANGUAGE, "-w")
# Platforms whose CPU compiler is known to support clang's builtins (prefetch, ia32_pmaddwd256).
# Elsewhere they may crash the process: the SPIR-V translator of Mesa's rusticl does, though __has_builtin is true.
BUILTIN_PLATFORMS = (POCL, "Intel(R) OpenCL")
# PoCL 6.0 ends its process where a kernel has inline assembly; 3.1 and 7.1 do not. 4 and 5 were not tested.
POCL_WITHOUT_ASSEMBLY = ((4,), (7,))
POCL_THAT_WARNS = (7,)  # see WIDE_VECTORS

# Clang warns that functions with vectors wider than the CPU's registers cannot be called from programs that were
# compiled for another CPU. A kernel's program is all compiled for one, so -Werror must not refuse it.
# Clang 21, which PoCL 7.1 compiles with, warns in spite of this pragma, and PoCL rejects the option -Wno-psabi.
# NVIDIA's compiler is a clang that has no such warning, and would warn of the pragma.
WIDE_VECTORS = """#ifdef __has_warning
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif
"""


class Binaries:
    """Entries with the suffix `program`, by the keys of `Programs`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._entries = CacheEntries(directory, "program")

    def load(self, key: str) -> bytes | None:
        """Return the entry saved under `key`, or None."""
        content = self._entries.load(key)
        return None if content is None else bytes(content)

    def save(self, key: str, content: bytes) -> None:
        """Write the entry in one step: a reader sees all of it or none. Raises OSError."""
        self._entries.save(key, [content])


def compiler_options(device: Device) -> tuple[str, ...]:
    """Return the options of every program for `device`: the language, and what its compiler supports.

    A warning is an error where the tests run the compiler; no other compiler's warning refuses a kernel.
    """
    builtins = takes_builtins(device)
    language = STANDARD if builtins and not always_warns(device) else WITHOUT_WARNINGS
    supported = {"-DCLANG_BUILTINS": builtins, "-DHALF_IS_A_TYPE": takes_halves(device)}
    return (*language, *(define for define, is_there in supported.items() if is_there))


def always_warns(device: Device) -> bool:
    """Return whether the compiler of `device` warns of wide vectors in spite of `WIDE_VECTORS`."""
    return device.platform == POCL and device.release >= POCL_THAT_WARNS


def takes_halves(device: Device) -> bool:
    """Return whether half is a type like others: `pocl_builtins.cl` does not declare conversions to it."""
    return device.fp16 and device.platform != POCL


def takes_builtins(device: Device) -> bool:
    """Return whether the compiler of `device` is known to support clang's builtins."""
    return device.kind == "cpu" and device.platform in BUILTIN_PLATFORMS


def takes_assembly(device: Device) -> bool:
    """Return whether kernels may have inline assembly: the compiler of `device` does not end its process there."""
    first, below = POCL_WITHOUT_ASSEMBLY
    return takes_builtins(device) and not (device.platform == POCL and first <= device.release < below)


@cache
def source_of(kernel: str) -> str:
    """Read a kernel file and replace its `#include "…"` lines by their files, each file once."""
    return WIDE_VECTORS + _expand(f"{kernel}.cl", set())


def _expand(name: str, included: set[str]) -> str:
    if name in included:
        return ""
    included.add(name)
    lines = (files("edged.engine") / "kernels" / name).read_text("utf-8").splitlines()
    return "\n".join(
        _expand(line.split('"')[1], included) if line.startswith("#include") else line for line in lines
    )


class Programs:
    """The kernels of one context. Launches with equal source and options share a program."""

    def __init__(self, context: Any, device: Device, binaries: Binaries) -> None:
        self._context = context
        self.device = device
        self._standard = compiler_options(device)
        self.folder = binaries.directory
        self._binaries = binaries
        self._built: dict[str, Any] = {}
        self._fresh: dict[str, Any] = {}

    def kernel(self, launch: Launch) -> Any:
        """Return a new kernel object for `launch`. Raises DeviceError if the driver rejects the source."""
        with device_errors(self.device.name, f"compiling {launch.kernel} for {launch.operator}"):
            return cl.Kernel(self._program(source_of(launch.kernel), self._options(launch)), launch.kernel)

    def composed(self, source: str) -> Any:
        """Return a new kernel object for a composition. Raises DeviceError if the driver rejects the source."""
        is_new = not self.has(source)
        with (
            device_errors(self.device.name, "compiling a network for one launch"),
            progress_of(f"a network for one launch on {self.device.name}") if is_new else nullcontext(),
        ):
            return cl.Kernel(self._program(source, list(self._standard)), "one_launch")

    def has(self, source: str) -> bool:
        """Return whether a composition need not be compiled."""
        return self._is_there(self._key(source, list(self._standard)), list(self._standard))

    def fitting(self, launch: Launch) -> tuple[Launch, Any]:
        """Return `launch` with a work-group that the device supports for this kernel, and a kernel object for it.

        A kernel that needs many registers may allow fewer work-items than a light one (Mali: 64 of 256).
        """
        kernel = self.kernel(launch)
        while launch.group > max(1, self._largest_group(kernel)):
            launch = replace(launch, group=launch.group // 2)
            kernel = self.kernel(launch)
        return launch, kernel

    def missing(self, launches: Sequence[Launch]) -> list[Launch]:
        """Return a launch for each program that would have to be compiled."""
        programs = {self._key(source_of(one.kernel), self._options(one)): one for one in launches}
        return [one for key, one in programs.items() if not self._is_there(key, self._options(one))]

    def save(self) -> None:
        """Save newly compiled programs. Call it once the kernels exist: some drivers compile only then."""
        try:
            for key, program in self._fresh.items():
                with device_errors(self.device.name, "returning a compiled program"):
                    binary = program.get_info(cl.program_info.BINARIES)[0]
                self._binaries.save(key, binary)
        except OSError as error:
            log.warning("compiled programs cannot be kept, so the next start will be slow too: %s", error)
        self._fresh.clear()

    def _largest_group(self, kernel: Any) -> int:
        with device_errors(self.device.name, "reading the size of a work-group"):
            limit = cl.kernel_work_group_info.WORK_GROUP_SIZE
            return int(kernel.get_work_group_info(limit, self._context.devices[0]))

    def _program(self, source: str, options: list[str]) -> Any:
        key = self._key(source, options)
        if not self._is_there(key, options):
            self._built[key] = self._compile(key, source, options)
        return self._built[key]

    def _is_there(self, key: str, options: list[str]) -> bool:
        """Return whether the program is built, or could be loaded now."""
        if key not in self._built and (program := self._load(key, options)):
            self._built[key] = program
        return key in self._built

    def _load(self, key: str, options: list[str]) -> Any | None:
        binary = self._binaries.load(key)
        if binary is None:
            return None
        try:
            return build(cl.Program(self._context, self._context.devices, [binary]), options)
        except cl.Error:  # a driver may reject its own earlier binary
            return None

    def _compile(self, key: str, source: str, options: list[str]) -> Any:
        self._fresh[key] = compile_source(self._context, self.device, source, options)
        return self._fresh[key]

    def _options(self, launch: Launch) -> list[str]:
        return [*self._standard, *launch.options]

    def _key(self, source: str, options: list[str]) -> str:
        device = self.device
        parts = [*shortened(device, source, options), device.platform, device.name, device.version, device.driver]
        return sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def progress_of(what: str) -> Iterator[None]:
    """Log that `what` is compiled now, and how that ended."""
    progress.info("compiling %s", what)
    try:
        yield
    except BaseException:
        progress.info("failed to compile %s", what)
        raise
    progress.info("compiled %s", what)
