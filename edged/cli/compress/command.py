"""`edged compress`: make the file of a network several times smaller."""

import argparse
import json
from pathlib import Path

from edged.cli.model_options import add_input_options, given_model, show_preparation
from edged.cli.options import above_zero, add_example, add_json, positive
from edged.cli.terminal import interrupt_on_sigterm, note, warn
from edged.errors import ConfigError
from edged.system.plain_text import printable_json, printable_lines

COUNT = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the pictures, the limit and where to write."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model with trained weights")
    pictures = parser.add_mutually_exclusive_group(required=True)
    data = "labelled pictures that judge the result, as of `edged eval`"
    pictures.add_argument("--data", type=Path, metavar="FOLDER", help=data)
    images = "a folder of pictures without labels: the result must give the same first class as the original"
    pictures.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    loss = "accuracy that may be lost, in percentage points (default: 0.5)"
    parser.add_argument("--max-loss", type=above_zero("points", 100), default=0.5, metavar="POINTS", help=loss)
    count = f"judge by at most N pictures, evenly spaced (default: {COUNT})"
    parser.add_argument("--count", type=positive, default=COUNT, metavar="N", help=count)
    add_retraining(parser)
    output = "folder for NAME.onnx, NAME.onnx.zst and the report (default: NAME-compressed)"
    parser.add_argument("--output", type=Path, metavar="FOLDER", help=output)
    parser.add_argument("--device", default="auto", metavar="NAME", help="as in the config (default: auto)")
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    unlabelled = "edged compress net.onnx --images photos --max-loss 2"
    add_example(
        parser,
        "edged compress net.onnx --data val --labels labels.txt --preprocess imagenet",
        unlabelled,
        "edged compress mnist-conv/mnist-conv.onnx --data MNIST --epochs 8",
    )


def add_retraining(parser: argparse.ArgumentParser) -> None:
    """Add --epochs and --training."""
    group = parser.add_argument_group("retraining, which makes the file smaller still")
    epochs = "retrain the pruned and shared weights for N epochs, on --data as of `edged train`"
    group.add_argument("--epochs", type=positive, metavar="N", help=epochs)
    training = (
        "a training's YAML file or named network, for its settings and kind of data (default: the network of the "
        "model's name)"
    )
    group.add_argument("--training", metavar="NAME|FILE", help=training)


def run(arguments: argparse.Namespace) -> int:
    """Compress, write the files and the report, and print it."""
    interrupt_on_sigterm()
    model = given_model(arguments)
    if model.random_weights:
        raise ConfigError(f"{model.name} has random weights: it has no accuracy to keep; give an ONNX file")
    if arguments.epochs and not arguments.data:
        raise ConfigError("--epochs needs labelled pictures to train on: give --data in place of --images")
    show_preparation(model)
    from edged.cli.compress.work import CompressionWork
    from edged.compress.report import as_text

    work = CompressionWork(arguments, model)
    try:
        outcome = work.compress()
    except KeyboardInterrupt:
        note("stopped; the same command goes on there")
        raise
    if arguments.json:
        print(printable_json(json.dumps({**outcome.as_object(), "folder": str(work.folder)}, ensure_ascii=False)))
    else:
        print(printable_lines(f"{as_text(outcome)}\nfiles: {work.folder}"))
    if outcome.loss > outcome.max_loss:
        lost = f"{100 * outcome.loss:.2f} points are lost, more than --max-loss {arguments.max_loss:g}"
        warn(f"{lost}: give more --epochs, or allow more")
    return 0
