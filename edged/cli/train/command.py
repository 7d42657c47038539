"""`edged train`: train a network from pictures, on an OpenCL device."""

import argparse
import json
import shlex
import sys
from pathlib import Path

from edged import config
from edged.cli.options import add_example, add_json
from edged.errors import ConfigError
from edged.runtime.select import is_numpy, opencl_device
from edged.system.terminal import interrupt_on_sigterm, note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the network, its data and where to write."""
    from edged.train.config import named_networks

    what = f"a YAML file, or a named network: {', '.join(named_networks())}"
    parser.add_argument("training", metavar="NAME|FILE", help=what)
    data = "IDX files as of MNIST, or a sub-folder of pictures for each label (default: as in the file)"
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=data)
    output = "folder for model, report and checkpoints (default: as in the file, else the network's name)"
    parser.add_argument("--output", type=Path, metavar="FOLDER", help=output)
    resume = "continue from the last checkpoint in the output folder, if there is one"
    parser.add_argument("--resume", action="store_true", help=resume)
    start = "start from the weights of this model; its layers and input replace those of the file"
    parser.add_argument("--from", dest="start", type=Path, metavar="MODEL.onnx", help=start)
    parser.add_argument("--device", default="auto", metavar="NAME", help="as in the config (default: auto)")
    seed = "seed of all random numbers (default: as in the file)"
    parser.add_argument("--seed", type=_seed, metavar="N", help=seed)
    add_json(parser)
    add_example(parser, "edged train mnist-dense --data MNIST", "edged train net.yaml --data photos --resume")


def run(arguments: argparse.Namespace) -> int:
    """Train, write the model and its report, then print the result."""
    if is_numpy(config.WorkerConfig(device=arguments.device)):
        raise ConfigError("device numpy cannot train: give an OpenCL device (`edged devices` lists them)")
    interrupt_on_sigterm()
    from edged.cli.train.work import Work

    device = opencl_device(arguments.device)
    work = Work(arguments, device)
    try:
        result = work.train()
    except KeyboardInterrupt:
        words = sys.argv[1:]
        again = shlex.join(["edged", *words, *([] if "--resume" in words else ["--resume"])])
        note(f"stopped; {work.describe_kept()}: continue with `{again}`")
        raise
    print(json.dumps(result.as_object()) if arguments.json else result)
    return 0


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 0 to {2**32 - 1}")
    return int(text)
