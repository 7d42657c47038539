"""`edged compress`: compress the file of a network by pruning and weight sharing."""

import argparse
import json
from pathlib import Path

from edged.cli.options import add_example, positive
from edged.cli.pictures import add_judged_options, trained_model
from edged.errors import ConfigError
from edged.system.plain_text import printable_json, printable_lines
from edged.system.terminal import interrupt_on_sigterm, note, warn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the pictures, the limit and where to write."""
    add_judged_options(parser, "largest loss of accuracy")
    add_retraining(parser)
    output = "folder for NAME.onnx, NAME.onnx.zst and the report (default: NAME-compressed)"
    parser.add_argument("--output", type=Path, metavar="FOLDER", help=output)
    unlabelled = "edged compress net.onnx --images photos --max-loss 2"
    add_example(
        parser,
        "edged compress net.onnx --data val --labels labels.txt --preprocess imagenet",
        unlabelled,
        "edged compress mnist-conv/mnist-conv.onnx --data MNIST --epochs 8",
    )


def add_retraining(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("retraining, which makes the file smaller still")
    epochs = "retrain the pruned and shared weights for N epochs, on --data as for `edged train`"
    group.add_argument("--epochs", type=positive, metavar="N", help=epochs)
    training = (
        "a training's YAML file or named network, for its settings and kind of data (default: the network of the "
        "model's name)"
    )
    group.add_argument("--training", metavar="NAME|FILE", help=training)


def run(arguments: argparse.Namespace) -> int:
    """Compress, write the files and the report, and print it."""
    interrupt_on_sigterm()
    model = trained_model(arguments)
    if arguments.epochs and not arguments.data:
        raise ConfigError("--epochs needs labelled pictures to train on: give --data in place of --images")
    from edged.cli.compress.work import CompressionWork
    from edged.compress.report import as_text

    work = CompressionWork(arguments, model)
    try:
        outcome = work.compress()
    except KeyboardInterrupt:
        note("stopped; the same command resumes there")
        raise
    if arguments.json:
        print(printable_json(json.dumps({**outcome.as_object(), "folder": str(work.folder)}, ensure_ascii=False)))
    else:
        print(printable_lines(f"{as_text(outcome)}\nfiles: {work.folder}"))
    if outcome.loss > outcome.max_loss:
        lost = f"{100 * outcome.loss:.2f} points are lost, more than --max-loss {arguments.max_loss:g}"
        warn(f"{lost}: give more --epochs, or allow more")
    return 0
