"""`edged batch`: classify an archive of pictures or videos, or find objects in it, here or on a Ray cluster."""

import argparse
from pathlib import Path

from edged.cli.cluster_options import add_network_run, require, require_ray
from edged.cli.options import add_example, add_no_exif, positive
from edged.runtime.threads import limit_threads
from edged.system.terminal import interrupt_on_sigterm

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
    output = "a new folder, or that of an interrupted run to resume: Parquet files by day and camera"
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help=output)
    camera = "camera of all pictures (default: their sub-folder, their column, or the video's name)"
    parser.add_argument("--camera", metavar="NAME", help=camera)
    top = f"labels per picture, of a classifier (default: {TOP})"
    parser.add_argument("--top", type=positive, default=TOP, metavar="K", help=top)
    stride = f"classify every Nth frame of a video (default: {STRIDE})"
    parser.add_argument("--stride", type=positive, default=STRIDE, metavar="N", help=stride)
    chunk = f"answers per output file, which appears when it is complete (default: {CHUNK})"
    parser.add_argument("--chunk", type=positive, default=CHUNK, metavar="N", help=chunk)
    add_no_exif(parser)
    readers = "threads that read and prepare pictures (default: one per processor, at most 4; --threads N: N − 1)"
    parser.add_argument("--readers", type=positive, metavar="N", help=readers)
    add_network_run(parser)
    clip = "edged batch net.onnx --input clip.mp4 --output answers --camera door --stride 25"
    cluster = "edged batch net.onnx --input /mnt/archive --output /mnt/answers --ray auto"
    add_example(parser, "edged batch digits --input photos --output answers", clip, cluster)


def run(arguments: argparse.Namespace) -> int:
    """Classify what is not yet done, and print the sums of all files."""
    interrupt_on_sigterm()
    require("pyarrow", "edged batch")
    require_ray(arguments)
    limit_threads(arguments.threads)
    from edged.cli.batch.archive_run import run_batch  # NumPy reads the number of threads when it is loaded

    run_batch(arguments)
    return 0
