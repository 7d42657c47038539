"""edged, other runtimes and other OpenCL kernels on the same networks: `make bench-peers`.

Every contender is a process of its own that sleeps between its turns; they take turns in an order that rotates.
Each turn has the state of the machine (edged.system.machine_state), and the figures are given for each state. All
turns go to build/peers, or to --output: a measurement there of the same case and threads is replaced.
"""

import argparse
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.cases import CASES, Case, load_case, parse_case
from bench.peers.contender import Contender, MissingError
from bench.peers.contenders import CONTENDERS
from bench.peers.machine import describe
from bench.peers.rounds import TURN_COLUMNS, play
from bench.peers.table import heading, section
from bench.raw_results import keep, origin
from edged.system.machine_state import OTHERS, MachineState

LOGS = Path("build/peers")  # what the libraries print


def main() -> int:
    """Measure, print each section when it is done, and keep it; 1 if nobody could run a case."""
    arguments = _arguments()
    versions = describe(arguments.device)
    print(heading(versions), flush=True)
    everybody_failed = False
    with MachineState(arguments.others) as machine:
        for name in arguments.cases:
            case = load_case(name)
            for threads in arguments.threads:
                measured = measure(case, threads, arguments, machine)
                everybody_failed |= all("missing" in row for row in measured["contenders"])
                keep(
                    arguments.output,
                    origin("bench.peers") | versions_of(versions) | measured,
                    ("case", "threads"),
                )
                print(section(measured), flush=True)
    return int(everybody_failed)


def measure(case: Case, threads: int, arguments: argparse.Namespace, machine: MachineState) -> dict[str, Any]:
    """Start all contenders, one after the other, and let them take turns."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{Path(case.name).stem}-{threads}.log"
    log.write_text("")
    facts: dict[str, dict[str, Any]] = {}
    with ExitStack() as processes:
        ready = []
        for name in arguments.contenders:
            contender = Contender.start(name, case.name, threads, arguments.device, log)
            processes.callback(contender.end)
            facts[name] = _checked(contender, case)
            if "missing" not in facts[name]:
                ready.append(contender)
        played = (
            {row["name"]: row for row in play(ready, arguments.rounds, arguments.turn, machine)} if ready else {}
        )
    rows = [{"name": name, "turns": []} | facts[name] | played.get(name, {}) for name in arguments.contenders]
    sizes = {"batch": case.batch, "flops": case.flops, "weight_bytes": case.weight_bytes}
    return {"case": Path(case.name).stem, "threads": threads, **sizes, "columns": TURN_COLUMNS, "contenders": rows}


def _checked(contender: Contender, case: Case) -> dict[str, Any]:
    """Wait until it is ready and warm; its error, or why it is missing."""
    try:
        scores, weight_bytes = contender.scores()
        contender.run_for(0)
        contender.wait_until_idle()
    except MissingError as problem:
        return {"missing": str(problem)}
    error = case.error(np.asarray(scores, np.float64))
    return {"error": None if math.isnan(error) else float(f"{error:.2g}"), "weight_bytes": weight_bytes}


def versions_of(described: dict[str, str]) -> dict[str, dict[str, str]]:
    """Keep what is installed, without what is not."""
    return {"versions": {name: value for name, value in described.items() if value != "not installed"}}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    cases = f"MODEL[@SIZE][xBATCH] or FILE.onnx (default: {' '.join(CASES)})"
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="CASE", help=cases)
    parser.add_argument("--threads", nargs="+", type=int, default=(2, 1), help="default: 2 1")
    parser.add_argument("--rounds", type=int, default=20, help="turns of each (default: 20)")
    parser.add_argument("--turn", type=float, default=0.4, metavar="S", help="seconds of a turn (default: 0.4)")
    parser.add_argument("--others", type=float, default=OTHERS, help=f"processors that others may use ({OTHERS})")
    parser.add_argument("--contenders", nargs="+", default=tuple(CONTENDERS), choices=CONTENDERS, metavar="NAME")
    parser.add_argument("--device", default="cpu", help="OpenCL device, as in the config (default: cpu)")
    parser.add_argument("--output", type=Path, default=Path("build/peers/peers.json"), metavar="FILE")
    arguments = parser.parse_args()
    for case in arguments.cases:
        _check(parser, case)
    return arguments


def _check(parser: argparse.ArgumentParser, case: str) -> None:
    try:
        parse_case(case)
    except ValueError as problem:
        parser.error(str(problem))


if __name__ == "__main__":
    sys.exit(main())
