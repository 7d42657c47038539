"""`edged model`: what a model's file says of itself."""

import argparse
from pathlib import Path

from pydantic import ValidationError

from edged.cli.model_options import add_input_options, given_keys, validated
from edged.errors import ConfigError, ModelError
from edged.messages.preparation import RECIPES, Preprocess
from edged.model.metadata import PREFIX, Metadata, encode
from edged.model.metadata_file import with_properties
from edged.model.model_file import read_content
from edged.model.package import read_model
from edged.system.atomic_file import replace_file

WRITTEN = "what to write; --preprocess replaces all of --resize to --std in the file. --size is not written"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do with which file."""
    what = "write labels and how pictures are prepared into the file; all else in it stays as it is"
    parser.add_argument("action", choices=["set-metadata"], help=what)
    parser.add_argument("file", type=Path, metavar="FILE", help="an ONNX file")
    parser.add_argument("--name", metavar="NAME", help="what predictions and metrics call the model")
    add_input_options(parser, WRITTEN)
    output = "where to write it; weights that lie in other files stay there (default: in place of FILE)"
    parser.add_argument("--output", type=Path, metavar="FILE", help=output)


def run(arguments: argparse.Namespace) -> int:
    """Write the file in one step, if what it will say fits its network. Raises ConfigError, ModelError."""
    keys = given_keys(arguments)
    model, external = read_model(validated(path=arguments.file, **keys))
    metadata = _metadata(arguments.name, keys, model.labels)
    properties = encode(metadata)
    if not properties:
        raise ConfigError("there is nothing to write: give --preprocess, --labels, --name or other options")
    source: Path = arguments.file
    target: Path = arguments.output or source
    if external and target.resolve().parent != source.resolve().parent:
        raise ConfigError(f"--output {target}: weights of {source} lie in files beside it: write it there too")
    _replace(source, target, properties, _replaced_by(metadata.preprocess))
    name = metadata.name or model.name
    print(f"{target}: {name}, {len(model.labels)} classes; pictures are prepared as {model.input.described}")
    return 0


def _metadata(name: str | None, keys: dict[str, object], labels: tuple[str, ...]) -> Metadata:
    """What is to be written. Raises ConfigError."""
    said = {key: value for key, value in keys.items() if key in Metadata.model_fields}
    if "labels" in said:
        said["labels"] = labels
    try:
        return Metadata.model_validate({**said, "name": name})
    except ValidationError as error:
        raise ConfigError("; ".join(f"--{e['loc'][0]}: {e['msg']}" for e in error.errors())) from None


def _replaced_by(preprocess: Preprocess | None) -> frozenset[str]:
    """The properties of a file that a recipe takes the place of."""
    if preprocess is None:
        return frozenset()
    keys = ["resize", "scale", "mean", "std", *(["color"] if RECIPES[preprocess].color else [])]
    return frozenset(PREFIX + key for key in keys)


def _replace(source: Path, target: Path, properties: dict[str, str], removed: frozenset[str]) -> None:
    """Write `target`, with the mode of `source`. Raises ConfigError, and leaves all as it was."""
    content = read_content(source)
    try:
        with replace_file(target.resolve(), source.stat().st_mode & 0o777) as file:
            for piece in with_properties(content, properties, removed):
                file.write(piece)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from None
