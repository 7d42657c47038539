"""The files of raw results, docs/benchmarks/*.json: from them come the tables of README.md and docs/.

A file is a list of measurements, each with its command, date and machine. A new one takes the place of the one
with the same key; the others stay.
"""

import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}

Measured = Mapping[str, Any]


def read(path: Path) -> list[dict[str, Any]]:
    """Return the measurements of a file, none where it is missing."""
    if not path.exists():
        return []
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def keep(path: Path, measured: Measured, keys: Sequence[str]) -> None:
    """Write `measured` into the file, in place of the measurement whose `keys` have the same values."""
    others = [each for each in read(path) if any(each.get(key) != measured[key] for key in keys)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_as_text([*others, measured]))


def origin(module: str) -> dict[str, str]:
    """Return the command of this process, today's date and this machine."""
    arguments, command = list(sys.argv[1:]), f"python -m {module}"
    if "--output" in arguments:  # where it went does not matter to who repeats it
        place = arguments.index("--output")
        del arguments[place : place + 2]
    return {
        "command": shlex.join([*command.split(), *arguments]),
        "date": time.strftime("%-d %B %Y"),
        "machine": machine_name(),
    }


def machine_name() -> str:
    """Return the processor, how many of them, their vectors and the system."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = fields.get("flags", fields.get("Features", "")).split()
    vectors = next((name for flag, name in VECTORS.items() if flag in flags), "")
    family = f" family {fields['cpu family']} model {fields['model']}" if "cpu family" in fields else ""
    name = fields.get("model name", platform.machine())
    machine = "virtual machine" if "hypervisor" in flags else "machine"
    return f"{os.cpu_count()} processors of a {name}{family} ({', '.join(filter(None, [vectors, machine]))})"


def _as_text(measurements: Sequence[Measured]) -> str:
    """JSON with a measurement a line."""
    lines = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in measurements)
    return "[\n" + ",\n".join(lines) + "\n]\n"
