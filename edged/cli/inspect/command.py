"""`edged inspect`: what a model wants, what it costs, and what is missing to run it."""

import argparse
import json

from edged.cli.inspect.file_facts import facts_of
from edged.cli.inspect.report import InspectReport
from edged.cli.model_options import add_input_options, given_keys, model_config
from edged.cli.options import add_example, add_json
from edged.cli.terminal import warn
from edged.errors import ModelError
from edged.messages.preparation import ON_COMMAND_LINE, default_warning
from edged.model.package import load_model
from edged.system.plain_text import printable_json, printable_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model and the options of its input."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    add_example(parser, "edged inspect resnet18.onnx", "edged inspect vgg16 --size 224 --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the report: of a file that cannot be used what it says itself. Raises ModelError after it."""
    wanted = model_config(arguments)
    file = facts_of(wanted.path) if wanted.path else None
    model, error = None, None
    try:
        model = load_model(wanted)
    except ModelError as problem:
        if file is None:
            raise
        error = problem
    _print(InspectReport(arguments.model, given_keys(arguments), file, model, error), as_json=arguments.json)
    if error:
        raise error
    if model and model.prepared_by == "default" and not model.random_weights:
        warn(default_warning(model.input.described, ON_COMMAND_LINE))
    return 0


def _print(report: InspectReport, *, as_json: bool) -> None:
    if as_json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)), flush=True)
    else:
        print(printable_lines(report.as_text()), flush=True)
