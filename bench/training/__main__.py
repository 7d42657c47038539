"""Images that edged and PyTorch learn from in a second, and the time of `fashion-conv`'s two convolutions.

`make bench-training`. Same network, same start, batch, optimizer and threads; all take turns in one process, in an
order that rotates: believe the ratios. "first loss" is the mean of the first 20 steps, about the same for all
where nothing is drawn at random. Tables and all single times go to build/training.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.peers.machine import describe
from bench.training.table import layer_section, section

CASES = ("mnist-dense", "fashion-conv", "fashion-resnet")


def main() -> int:
    """Measure, print each table when it is done, and save all."""
    arguments = _arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    said = [f"- {name}: {value}" for name, value in describe(arguments.device).items()]
    print("\n".join(said), flush=True)
    tasks = [{"case": case, "threads": threads} for threads in arguments.threads for case in arguments.cases]
    limits = {"rounds": arguments.rounds, "budget_s": arguments.budget, "device": arguments.device}
    with (arguments.output / "training.json").open("w") as kept:
        for task in tasks:
            [measured] = _measured("measure", task | limits)
            _tell(section(measured), measured, kept)
        for threads in arguments.threads if arguments.images else ():
            task = {"case": "fashion-conv", "threads": threads, "images": arguments.images}
            for measured in _measured("layers", task | limits):
                _tell(layer_section(measured), measured, kept)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.training", description=__doc__)
    parser.add_argument("--cases", nargs="*", default=CASES, metavar="NAME", help=f"default: {' '.join(CASES)}")
    parser.add_argument("--threads", nargs="+", type=int, default=(2,), help="default: 2")
    parser.add_argument("--rounds", type=int, default=30, help="timed runs of each (default: 30)")
    parser.add_argument("--budget", type=float, default=30, help="seconds that each gets (default: 30)")
    parser.add_argument("--images", type=int, default=10_000, help="of a convolution (default: 10000; 0: none)")
    parser.add_argument("--device", default="cpu", help="OpenCL device, as in the config (default: cpu)")
    parser.add_argument("--output", type=Path, default=Path("build/training"), help="default: build/training")
    return parser.parse_args()


def _measured(module: str, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a process of its own wrote, a line each."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "measured.json"
        command = [sys.executable, "-m", f"bench.training.{module}", json.dumps(task), str(answer)]
        threads = {name: str(task["threads"]) for name in ("POCL_MAX_PTHREAD_COUNT", "OMP_NUM_THREADS")}
        blas = {"OPENBLAS_NUM_THREADS": str(task["threads"])}
        subprocess.run(command, env=os.environ | threads | blas, check=True)
        return [json.loads(line) for line in answer.read_text().splitlines()]


def _tell(text: str, measured: dict[str, Any], kept: Any) -> None:
    print(text, flush=True)
    print(json.dumps(measured), file=kept, flush=True)


if __name__ == "__main__":
    sys.exit(main())
