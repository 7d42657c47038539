"""List the OpenCL devices in a process of their own, since a driver may crash as soon as it is loaded.

`python -m edged.runtime.drivers FILE` is that process. A command, or a program of a user, loads the drivers only
after another process has loaded them. That is remembered until their files, their variables or the system's boot
change, so most starts take no longer.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from edged.errors import ConfigError
from edged.system.disk_cache import CacheEntries
from edged.system.paths import cache_directory
from edged.system.process_end import PARENT, describe_exit

LISTING = "edged.runtime.drivers"
LIST_S = 180.0  # most is spent on reading files from a slow card
STUCK = f"a driver did not list its devices within {LIST_S:g} s"
WITHOUT_OPENCL = "the device numpy runs networks without OpenCL, slowly, but cannot train them"
REMEDY = f"update or remove that driver; {WITHOUT_OPENCL}"

VENDORS_VARIABLE = "OCL_ICD_VENDORS"
VENDORS = Path("/etc/OpenCL/vendors")
BOOT = Path("/proc/sys/kernel/random/boot_id")
LIBRARIES = Path("/etc/ld.so.cache")  # written whenever a package brings another library
REMEMBERED_BYTES = 1 << 12  # of empty entries: of some sixty boots
READ_BY_LOADERS = ("OCL_", "OPENCL_", "LD_", "POCL_DEVICES", "RUSTICL_", "MESA_", "GALLIUM_")


def list_apart() -> tuple[list[dict[str, Any]], str]:
    """List the devices in another process; also return why none could be listed."""
    with tempfile.TemporaryDirectory(prefix="edged-doctor-") as folder:
        report = Path(folder) / "devices.json"
        try:
            done = _run_listing(report)
        except subprocess.TimeoutExpired:
            return [], STUCK
        if done.returncode:
            return [], f"the OpenCL devices cannot be listed: {why_ended(done)}"
        return json.loads(report.read_text()), ""


def why_drivers_may_not_be_loaded() -> str:
    """Return how a driver ends or blocks another process that loads it, and what to do; empty if none does."""
    try:
        done = _run_listing(Path(os.devnull))
    except subprocess.TimeoutExpired:
        return f"{STUCK}; {REMEDY}"
    except OSError:  # no process can be started, as in a program into which Python is built: it has to load them
        return ""
    if done.returncode < 0:
        return f"the OpenCL devices cannot be listed: {why_ended(done)}; {REMEDY}"
    if done.returncode == 0:
        with suppress(ConfigError, OSError):  # the next start asks again
            _remembered().save(_what_is_loaded(), ())
    return ""


@cache
def why_this_process_may_not_load_them() -> str:
    """Return what `why_drivers_may_not_be_loaded` does, unless that was found before; empty in a child of a hub.

    A hub survives the end of its worker, and reports it.
    """
    return "" if PARENT in os.environ or _is_remembered() else why_drivers_may_not_be_loaded()


def why_ended(done: "subprocess.CompletedProcess[str]") -> str:
    """Return how a process that loads drivers ended, and the last line that it wrote on standard error."""
    last = "".join(done.stderr.strip().splitlines()[-1:])
    crash = f" (a driver crashes{_which_crash()})" if done.returncode < 0 else ""
    return f"its process {describe_exit(done.returncode)}{crash}{f': {last}' if last else ''}"


def _which_crash() -> str:
    files = _icd_files()
    names = ", ".join(map(str, files if len(files) == 1 else _crashing_alone(files)))
    return f": {names}" if names else ""


def _crashing_alone(files: Sequence[Path]) -> Iterator[Path]:
    """Yield the .icd files that end the process which loads them alone."""
    for file in files:
        with tempfile.TemporaryDirectory(prefix="edged-driver-") as vendors:
            (Path(vendors) / file.name).symlink_to(file)
            with suppress(subprocess.TimeoutExpired):
                if _run_listing(Path(os.devnull), {VENDORS_VARIABLE: vendors}).returncode < 0:
                    yield file


def _run_listing(report: Path, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", LISTING, str(report))
    variables = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIST_S, env=variables)


def _icd_files() -> Sequence[Path]:
    """Return the files that name the drivers, as the loader finds them."""
    vendors = Path(os.environ.get(VENDORS_VARIABLE) or VENDORS)
    return (vendors,) if vendors.is_file() else sorted(vendors.glob("*.icd"))


def _remembered() -> CacheEntries:
    """Raises ConfigError where there is no cache folder."""
    return CacheEntries(cache_directory() / "drivers", "loaded", REMEMBERED_BYTES)


def _is_remembered() -> bool:
    with suppress(ConfigError):
        return _remembered().load(_what_is_loaded()) is not None
    return False


def _what_is_loaded() -> str:
    """Return a hash of what decides whether the drivers crash: their files, their variables, this boot."""
    boot = BOOT.read_text() if BOOT.exists() else ""
    return sha256(f"{identify_drivers()}{boot}".encode()).hexdigest()


def identify_drivers() -> str:
    """Return a hash of the drivers that this process loads: of their files and their variables."""
    variables = sorted(each for each in os.environ.items() if each[0].startswith(READ_BY_LOADERS))
    files = [_state_of(path) for icd in _icd_files() for path in (icd, _library_of(icd))]
    return sha256(repr((sys.executable, variables, files, _state_of(LIBRARIES))).encode()).hexdigest()


def _library_of(icd: Path) -> Path:
    """Return the library that the file names; without a folder it is found by the linker, through `LIBRARIES`."""
    try:
        return Path(icd.read_text().strip())
    except (OSError, ValueError):  # it is the library itself
        return icd


def _state_of(path: Path) -> tuple[str, int, int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return str(path), 0, 0, 0
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


def main() -> None:
    """Write the devices as JSON into the file that the argument names."""
    from edged.engine.device import list_devices

    Path(sys.argv[1]).write_text(json.dumps([asdict(device) for device in list_devices()]))


if __name__ == "__main__":
    main()
