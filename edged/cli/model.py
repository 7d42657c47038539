"""`edged model set-metadata`: write labels and preprocessing into a model's file."""

import argparse
import json
from pathlib import Path

from edged.cli.given_metadata import given_metadata, replaced_by
from edged.cli.model_options import add_input_options, answers_as_object, given_keys, validated
from edged.cli.options import add_example, add_json
from edged.errors import ConfigError, ModelError
from edged.model.metadata import encode
from edged.model.metadata_file import with_properties
from edged.model.model_file import compress, is_compressed, read_content
from edged.model.package import read_model
from edged.model.scores import score_rule
from edged.system.files import replace_file
from edged.system.plain_text import counted

WRITTEN = "metadata to write; --preprocess replaces --resize to --std in the file, --size is not written"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    example = "edged model set-metadata resnet18.onnx --preprocess imagenet --labels imagenet.txt"
    add_example(parser, example)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    summary = "write labels and preprocessing into a model's file; everything else in it is kept"
    action = actions.add_parser("set-metadata", help=summary, description=summary)
    action.add_argument("file", type=Path, metavar="FILE", help="an ONNX file")
    action.add_argument("--name", metavar="NAME", help="name of the model in predictions and metrics")
    add_input_options(action, WRITTEN)
    output = "file to write; external weights stay where they are (default: replace FILE)"
    action.add_argument("--output", type=Path, metavar="FILE", help=output)
    add_json(action)
    add_example(action, example)


def run(arguments: argparse.Namespace) -> int:
    """Write the file in one step, if the metadata fits its network. Raises ConfigError, ModelError."""
    keys = given_keys(arguments)
    model, folders = read_model(validated(path=arguments.file, **keys))
    metadata = given_metadata(keys, model.labels, arguments.name)
    properties = encode(metadata)
    if not properties:
        raise ConfigError("nothing to write: give --preprocess, --labels, --name or other options")
    source: Path = arguments.file
    target: Path = arguments.output or source
    if target != source and not folders <= {target.parent.resolve()}:
        places = " and ".join(map(str, sorted(folders)))
        raise ConfigError(f"--output {target}: {source} has external weights: write the new file to {places}")
    _replace(source, target, properties, replaced_by(metadata.preprocess))
    name = metadata.name or model.name
    if arguments.json:
        prepared = {
            "classes": len(model.labels),
            "preparation": model.input.described,
            **answers_as_object(model),
        }
        print(json.dumps({"file": str(target), "name": name, **prepared}, ensure_ascii=False))
        return 0
    classes = counted(len(model.labels), "class")
    print(f"{target}: {name}, {classes}; pictures are prepared as {model.input.described}")
    if model.detector:
        print(f"boxes are decoded as {model.detector.described}")
    else:
        print(f"scores are {score_rule(model).described}")
    return 0


def _replace(source: Path, target: Path, properties: dict[str, str], removed: frozenset[str]) -> None:
    """Write `target` with the mode of `source`. Raises ConfigError and changes nothing if it cannot."""
    content = read_content(source)
    try:
        with replace_file(target.resolve(), source.stat().st_mode & 0o777) as file:
            pieces = with_properties(content, properties, removed)
            file.writelines([compress(b"".join(pieces))] if is_compressed(target) else pieces)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from None
