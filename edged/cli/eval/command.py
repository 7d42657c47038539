"""`edged eval`: how often a network is right on labelled pictures, or how precise a detector's boxes are."""

import argparse
from pathlib import Path

from edged.cli.cluster_options import add_network_run, require_ray
from edged.cli.model_options import given_model, show_preparation
from edged.cli.options import add_example, add_no_exif, positive
from edged.errors import ConfigError
from edged.runtime.threads import limit_threads
from edged.system.terminal import interrupt_on_sigterm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the data, the plan and the cluster."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    data = (
        "a folder with a sub-folder of pictures for each label, or with IDX files as of MNIST; or the file of a "
        "list: a picture and its label or class index on each line, or CSV; for a detector: a folder of pictures"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help=data)
    annotations = (
        "of a detector: the boxes of the pictures in --data, in COCO's format (default: _annotations.coco.json or "
        "annotations.json there, or ../annotations/instances_FOLDER.json; without: the boxes of onnxruntime)"
    )
    parser.add_argument("--annotations", type=Path, metavar="FILE.json", help=annotations)
    count = "evaluate at most N pictures, evenly spaced (default: all)"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    add_no_exif(parser)
    restart = "start over: discard the answers of an interrupted run with the same model, device and data"
    parser.add_argument("--restart", action="store_true", help=restart)
    add_network_run(parser)
    lists = "edged eval net.onnx --preprocess imagenet --labels imagenet.txt --data val.txt --batch 8"
    cluster = "edged eval /mnt/net.onnx --data /mnt/val --ray auto"
    boxes = "edged eval yolox_nano.onnx --data val2017 --annotations annotations/instances_val2017.json"
    add_example(parser, "edged eval digits --data photos", lists, boxes, cluster)


def run(arguments: argparse.Namespace) -> int:
    """Print the figures; the exit code is that of an unreadable picture if there is one."""
    interrupt_on_sigterm()
    require_ray(arguments)
    limit_threads(arguments.threads)
    from edged.cli.eval.box_run import run_box_evaluation  # NumPy reads the number of threads when it is loaded
    from edged.cli.eval.evaluation_run import run_evaluation

    model = given_model(arguments)
    if model.random_weights:
        raise ConfigError(f"{model.name} has random weights: it is right by chance only; give an ONNX file")
    show_preparation(model)
    return (run_box_evaluation if model.detector else run_evaluation)(model, arguments)
