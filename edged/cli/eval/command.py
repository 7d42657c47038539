"""`edged eval`: how often a network is right on labelled pictures."""

import argparse
from pathlib import Path

from edged.cli.cluster_options import add_network_run, require_ray
from edged.cli.options import add_example, add_no_exif, positive
from edged.runtime.threads import limit_threads
from edged.system.terminal import interrupt_on_sigterm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the data, the plan and the cluster."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    data = (
        "a folder with a sub-folder of pictures for each label, or with IDX files as of MNIST; or the file of a "
        "list: a picture and its label or class index on each line, or CSV"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help=data)
    count = "evaluate at most N pictures, evenly spaced (default: all)"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    add_no_exif(parser)
    restart = "start over: discard the answers of an interrupted run with the same model, device and data"
    parser.add_argument("--restart", action="store_true", help=restart)
    add_network_run(parser)
    lists = "edged eval net.onnx --preprocess imagenet --labels imagenet.txt --data val.txt --batch 8"
    cluster = "edged eval /mnt/net.onnx --data /mnt/val --ray auto"
    add_example(parser, "edged eval digits --data photos", lists, cluster)


def run(arguments: argparse.Namespace) -> int:
    """Print the figures; the exit code is that of an unreadable picture if there is one."""
    interrupt_on_sigterm()
    require_ray(arguments)
    limit_threads(arguments.threads)
    from edged.cli.eval.evaluation_run import run_evaluation  # NumPy reads the number of threads when it is loaded

    return run_evaluation(arguments)
