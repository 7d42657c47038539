"""edged, other runtimes and other OpenCL kernels on the same networks: `make bench-peers`.

Every case and number of threads is measured in a process of its own. All contenders take turns in it, in an order
that rotates: believe the ratios, not the milliseconds. The table and all single times go to build/peers.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.perf.peers.cases import CASES, parse_case
from tests.perf.peers.contenders import CONTENDERS
from tests.perf.peers.machine import describe
from tests.perf.peers.table import heading, section


def main() -> int:
    """Measure, print each section when it is done, and save all; 1 if a case could not be measured."""
    arguments = _arguments()
    machine = describe(arguments.device)
    print(heading(machine), flush=True)
    sections, measured = [], []
    for case in arguments.cases:
        for threads in arguments.threads:
            measured.append(_measure(case, threads, arguments))
            sections.append(section(measured[-1]))
            print(sections[-1], flush=True)
            (arguments.output / "peers.json").write_text(json.dumps({"machine": machine, "measured": measured}))
            (arguments.output / "peers.md").write_text("\n".join([heading(machine), *sections]))
    return int(any("failed" in one for one in measured))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.perf.peers", description=__doc__)
    cases = f"MODEL[@SIZE][xBATCH] (default: {' '.join(CASES)})"
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="CASE", help=cases)
    parser.add_argument("--threads", nargs="+", type=int, default=(2, 1), help="default: 2 1")
    parser.add_argument("--rounds", type=int, default=60, help="timed runs of each (default: 60)")
    parser.add_argument("--budget", type=float, default=15, help="seconds that a slow one gets (default: 15)")
    parser.add_argument("--contenders", nargs="+", default=tuple(CONTENDERS), choices=CONTENDERS, metavar="NAME")
    parser.add_argument("--device", default="cpu", help="OpenCL device, as in the config (default: cpu)")
    parser.add_argument("--output", type=Path, default=Path("build/peers"), help="default: build/peers")
    arguments = parser.parse_args()
    for case in arguments.cases:
        _check(parser, case)
    arguments.output.mkdir(parents=True, exist_ok=True)
    return arguments


def _check(parser: argparse.ArgumentParser, case: str) -> None:
    try:
        parse_case(case)
    except ValueError as problem:
        parser.error(str(problem))


def _measure(case: str, threads: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """What `measure` wrote; what the libraries have to say goes into a log beside the table."""
    task = {
        "case": case,
        "threads": threads,
        "device": arguments.device,
        "rounds": arguments.rounds,
        "budget_s": arguments.budget,
        "contenders": arguments.contenders,
    }
    log = arguments.output / f"{case}-{threads}.log"
    with tempfile.TemporaryDirectory() as folder, log.open("w") as said:
        answer = Path(folder) / "measured.json"
        command = [sys.executable, "-m", "tests.perf.peers.measure", json.dumps(task), str(answer)]
        environment = _environment(threads, arguments.device)
        code = subprocess.call(command, env=environment, stdout=said, stderr=said)
        if code:
            return task | {"failed": f"its process ended with code {code}; see {log}"}
        measured: dict[str, Any] = json.loads(answer.read_text())
        return measured


def _environment(threads: int, device: str) -> dict[str, str]:
    """What the OpenCL libraries only read here: PoCL its threads, OpenCV and tinygrad their device."""
    kind = {"cpu": ":CPU:", "gpu": ":GPU:"}
    return os.environ | {
        "POCL_MAX_PTHREAD_COUNT": str(threads),
        "OPENCV_DNN_OPENCL_ALLOW_ALL_DEVICES": "1",
        "OPENCV_OPENCL_DEVICE": kind.get(device, ""),
        "DEV": "CL",
    }


if __name__ == "__main__":
    sys.exit(main())
