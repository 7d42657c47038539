"""Run Mesa's compilers in the root that `tools/mali_root.sh` makes; what they answered is kept there."""

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore

from pydantic import TypeAdapter

from edged.engine.device import Device
from edged.errors import DeviceError
from edged.system.disk_cache import CacheEntries
from tools.mali.gpus import Gpu
from tools.mali.statistics import Compiled, Output, device_of, read_output

CHECKOUT = Path(__file__).parents[2]
SCRIPT = CHECKOUT / "tools/mali_root.sh"
MADE_BY = (SCRIPT, CHECKOUT / "tools/mali/compile_kernels.c")
# A compiler that writes beyond its memory is aborted where it does, not by chance: Midgard's has done so.
MEMORY_CHECK = "libc_malloc_debug.so.0"
TOOLS = "trixie"  # the release whose root has the emulator, and what answers for a GPU
RELEASES = ("trixie", "forky")
FEATURES = "RUSTICL_FEATURES=fp16"  # Mesa before 26 has no half without it
LIBRARIES = "usr/lib/aarch64-linux-gnu"
CRASHED = "the compiler crashed, or took longer than two minutes"
COMPILED = TypeAdapter(Compiled)
PROCESSORS = len(os.sched_getaffinity(0))
PROCESSES = BoundedSemaphore(PROCESSORS)  # of the compiler, at once
AT_ONCE = 24  # programs of one process: it takes 5 s to start, and half a second for each


def default_folder() -> Path:
    """Return the folder of the roots, which may be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-mali")


@dataclass(frozen=True)
class Program:
    """One kernel to compile: its source with nothing included, its name and the compiler's options."""

    source: str
    kernel: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Root:
    """A release of Debian with Mesa's OpenCL for Mali, in `folder`."""

    folder: Path
    release: str = TOOLS

    @property
    def is_there(self) -> bool:
        """Return whether it was made, by this version of the script."""
        wanted = "".join(f"{sha256(file.read_bytes()).hexdigest()}\n" for file in MADE_BY)
        stamps = [self.folder / release / "complete" for release in (TOOLS, self.release)]
        return all(stamp.is_file() and stamp.read_text() == wanted for stamp in stamps)

    def make(self) -> None:
        """Make the root where it is absent or of another version of the script. Raises DeviceError: why not."""
        command = [str(SCRIPT), str(self.folder), self.release]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise DeviceError((done.stderr.splitlines() or ["no reason"])[-1].removeprefix("edged: "))

    def device(self, gpu: Gpu) -> Device:
        """Return what the driver says of a GPU. Raises DeviceError."""
        key = self._key(gpu, "device")
        if (kept := self._answers.load(key)) is None:
            kept = memoryview(json.dumps(self._run(gpu, ()).properties).encode())
            self._keep(key, kept)
        return device_of(json.loads(bytes(kept)))

    def compile(self, gpu: Gpu, programs: Iterable[Program]) -> dict[Program, Compiled]:
        """Compile all programs, several at a time. Raises DeviceError if the compiler does not even start."""
        found = {program: self._kept(gpu, program) for program in dict.fromkeys(programs)}
        missing = [program for program, kept in found.items() if kept is None]
        with ThreadPoolExecutor(PROCESSORS) as pool:
            parts = [missing[first : first + AT_ONCE] for first in range(0, len(missing), AT_ONCE)]
            fresh = [
                each for part in pool.map(lambda part: self._compile(gpu, part), parts) for each in part.items()
            ]
        for program, compiled in fresh:
            if compiled.statistics:  # a compiler may also fail for want of memory
                self._keep(self._key(gpu, asdict(program)), COMPILED.dump_json(compiled))
        return {program: kept for program, kept in (found | dict(fresh)).items() if kept}

    def _compile(self, gpu: Gpu, programs: Sequence[Program]) -> dict[Program, Compiled]:
        """Compile programs in one process after the other: one that a program ended is followed by the next."""
        compiled: dict[Program, Compiled] = {}
        while rest := [program for program in programs if program not in compiled]:
            output = self._run(gpu, rest)
            compiled |= {rest[number]: each for number, each in output.compiled.items()}
            if output.unfinished is not None:
                compiled[rest[output.unfinished]] = Compiled(failure=CRASHED)
            elif len(output.compiled) < len(rest):
                raise DeviceError(
                    f"Mesa's compiler for {gpu.name} does not start in {self.folder}: remove that folder"
                )
        return compiled

    def _run(self, gpu: Gpu, programs: Sequence[Program]) -> Output:
        with TemporaryDirectory(prefix="edged-mali-") as folder:
            lines = [_written(Path(folder, f"{n}.cl"), program) for n, program in enumerate(programs)]
            todo = Path(folder, "list")
            todo.write_text("\n".join(lines), "utf-8")
            with PROCESSES:
                done = subprocess.run(
                    self._command(gpu, todo),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,  # in the order in which they come
                    text=True,
                    check=False,
                )
        return read_output(done.stdout)

    def _command(self, gpu: Gpu, todo: Path) -> list[str]:
        """Return the command line: files of the root come before those of this machine with the same path."""
        tools, driver = self.folder / TOOLS, gpu.architecture.driver
        variables = (
            f"LD_PRELOAD={tools / LIBRARIES}/libno_{driver.library}.so {MEMORY_CHECK}",
            "GLIBC_TUNABLES=glibc.malloc.check=3",
            *((f"{driver.gpu}={gpu.product}",) if driver.gpu else ()),
            f"RUSTICL_ENABLE={driver.name}",
            FEATURES,
            "OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd",
            "MESA_SHADER_CACHE_DISABLE=1",
            *driver.printing,
        )
        set_all = [part for variable in variables for part in ("-E", variable)]
        emulator = [str(tools / "usr/bin/qemu-aarch64"), "-L", str(self.folder / self.release), *set_all]
        return [*emulator, str(tools / "usr/bin/compile_kernels"), str(todo)]

    def _kept(self, gpu: Gpu, program: Program) -> Compiled | None:
        kept = self._answers.load(self._key(gpu, asdict(program)))
        return None if kept is None else COMPILED.validate_json(bytes(kept))

    def _keep(self, key: str, content: bytes | memoryview) -> None:
        with suppress(OSError):  # a root of another user: it takes longer the next time
            self._answers.save(key, [content])

    @cached_property
    def _answers(self) -> CacheEntries:
        return CacheEntries(self.folder / self.release / "answers", "answer")

    def _key(self, gpu: Gpu, what: object) -> str:
        return sha256(json.dumps([gpu.name, FEATURES, what]).encode()).hexdigest()


def _written(path: Path, program: Program) -> str:
    """Write a program's source, and return its line in the list of `compile_kernels`."""
    path.write_text(program.source, "utf-8")
    return "\t".join((str(path), program.kernel, " ".join(program.options)))
