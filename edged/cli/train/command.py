"""`edged train`: a network learns from pictures, on the device that is to answer later."""

import argparse
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType

from edged import config
from edged.errors import ConfigError
from edged.runtime.select import is_numpy, opencl_device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    from edged.train.config import named_networks

    what = f"a YAML file, or a named network: {', '.join(named_networks())}"
    parser.add_argument("training", metavar="NAME|FILE", help=what)
    data = "IDX files of MNIST and its like, or a sub-folder of pictures a label (default: as the file says)"
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=data)
    output = "where model, report and checkpoints go (default: as the file says, else the network's name)"
    parser.add_argument("--output", type=Path, metavar="FOLDER", help=output)
    resume = "go on from the last checkpoint there, if there is one, as if nothing had happened"
    parser.add_argument("--resume", action="store_true", help=resume)
    start = "start from this model's weights; its layers and input go before those of the file"
    parser.add_argument("--from", dest="start", type=Path, metavar="MODEL.onnx", help=start)
    parser.add_argument("--device", default="auto", metavar="NAME", help="as in the config (default: auto)")
    seed = "of all that is random, before that of the file"
    parser.add_argument("--seed", type=_seed, metavar="N", help=seed)


def run(arguments: argparse.Namespace) -> int:
    """Train, write the model and its report, then say how it went."""
    if is_numpy(config.Worker(device=arguments.device)):
        raise ConfigError("device numpy cannot train: name an OpenCL device, see `edged devices`")
    signal.signal(signal.SIGTERM, _interrupt)
    from edged.cli.train.work import Work

    device = opencl_device(arguments.device)
    work = Work(arguments, device)
    try:
        print(work.go())
    except KeyboardInterrupt:
        print(f"edged: stopped; {work.what_is_kept()}: go on with `{_again()}`", file=sys.stderr)
        raise
    return 0


def _again() -> str:
    words = sys.argv[1:]
    return shlex.join(["edged", *words, *([] if "--resume" in words else ["--resume"])])


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {2**32 - 1}")
    return int(text)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
