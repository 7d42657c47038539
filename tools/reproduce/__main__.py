"""Run one of the experiments that edged comes from, and print its figures as a table.

python -m tools.reproduce gemm            products 64×147×3600 and 256×2304×64, naive against tuned
python -m tools.reproduce resnet50        ResNet-50 at 120×120: shares of convolutions, copies and host calls
python -m tools.reproduce mnist --data FOLDER      the dense network on MNIST
python -m tools.reproduce fashion --data FOLDER    two convolutions on the 10,000 test pictures of Fashion-MNIST
"""

import argparse
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.raw_results import machine_name
from edged.config import ModelConfig as ModelSection
from edged.engine.device import find_device
from edged.errors import EdgedError
from edged.model.package import load_model
from tools.reproduce import fashion, gemm, mnist, resnet50

EXPERIMENTS = ("gemm", "resnet50", "mnist", "fashion")


def main(argv: Sequence[str]) -> int:
    """Run the experiment that `argv` names and return the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        print(_report(arguments))
    except EdgedError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return error.exit_code
    command = shlex.join(["python", "-m", "tools.reproduce", *argv])
    print(f"\nMeasured by `{command}` on {time.strftime('%-d %B %Y')}, {machine_name()}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--device", default="cpu", help="OpenCL device, as in the config (default: cpu)")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="IDX files of MNIST or Fashion-MNIST")
    parser.add_argument("--output", type=Path, default=Path("build/mnist-dense"), help="of mnist (%(default)s)")
    parser.add_argument("--minutes", type=float, default=2, help="of tuning, for gemm (default: 2)")
    parser.add_argument("--runs", type=int, default=20, help="timed runs of each contender (default: 20)")
    return parser


def _report(arguments: argparse.Namespace) -> str:
    if arguments.experiment == "mnist":
        return mnist.report(_data(arguments), arguments.output)
    device = find_device(arguments.device)
    if arguments.experiment == "gemm":
        return gemm.report(device, arguments.minutes, arguments.runs)
    if arguments.experiment == "fashion":
        return fashion.report(_data(arguments), device)
    return resnet50.report(load_model(ModelSection(name="resnet50", size=120)), device, arguments.runs)


def _data(arguments: argparse.Namespace) -> Path:
    folder: Path | None = arguments.data
    if folder is None:
        raise EdgedError(f"{arguments.experiment} needs --data FOLDER, with the IDX files of the data set")
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
