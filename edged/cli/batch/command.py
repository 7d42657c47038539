"""`edged batch`: classify an archive of pictures or videos, alone or on a Ray cluster."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from edged.cli.model_options import add_input_options, add_plan_options
from edged.cli.options import add_example, add_json, positive
from edged.cli.terminal import interrupt_on_sigterm
from edged.errors import ConfigError
from edged.worker.threads import limit_threads

CHUNK = 1000
STRIDE = 1
TOP = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the archive, the output, the device and the cluster."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    archive = (
        "a folder of pictures or videos; a text file with one of them on each line; a Parquet file with a column "
        "`path`, and perhaps `camera` and `captured_at`; or a video"
    )
    parser.add_argument("--input", type=Path, required=True, metavar="ARCHIVE", help=archive)
    output = "a new folder, or that of an interrupted run, which goes on: Parquet files by day and camera"
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help=output)
    camera = "camera of all pictures (default: their sub-folder, their column, or the video's name)"
    parser.add_argument("--camera", metavar="NAME", help=camera)
    parser.add_argument("--top", type=positive, default=TOP, metavar="K", help=f"labels to keep (default: {TOP})")
    stride = f"classify every Nth frame of a video (default: {STRIDE})"
    parser.add_argument("--stride", type=positive, default=STRIDE, metavar="N", help=stride)
    chunk = f"answers in a file, which is written at once (default: {CHUNK})"
    parser.add_argument("--chunk", type=positive, default=CHUNK, metavar="N", help=chunk)
    threads = "CPU threads of the device (PoCL, numpy), as in the config (default: all)"
    parser.add_argument("--threads", type=positive, metavar="N", help=threads)
    readers = "threads that read and prepare pictures (default: one a processor, at most 4; --threads N: N − 1)"
    parser.add_argument("--readers", type=positive, metavar="N", help=readers)
    add_plan_options(parser, device="device, as in the config, or numpy")
    _add_cluster(parser)
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    clip = "edged batch net.onnx --input clip.mp4 --output answers --camera door --stride 25"
    cluster = "edged batch net.onnx --input /mnt/archive --output /mnt/answers --ray auto"
    add_example(parser, "edged batch digits --input photos --output answers", clip, cluster)


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Ray cluster")
    address = "run on this Ray cluster: HOST:6379, or auto for that of this host"
    group.add_argument("--ray", metavar="HOST:PORT", help=address)
    resource = "resource that a node has once for each device (default: opencl)"
    group.add_argument("--resource", default="opencl", metavar="NAME", help=resource)
    group.add_argument("--actors", type=positive, metavar="N", help="devices to take at most (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Classify what is not yet done, and print the sums of all files."""
    interrupt_on_sigterm()
    _require("pyarrow", "edged batch")
    if arguments.ray:
        _require("ray", "--ray", "ray[data,default]")
    limit_threads(arguments.threads)
    from edged.cli.batch.archive_run import run_batch  # NumPy reads the number of threads when it is loaded

    run_batch(arguments)
    return 0


def _require(module: str, what: str, package: str = "") -> None:
    if find_spec(module) is None:
        raise ConfigError(f"{what} needs {package or module}: pip install '{package or module}'")
