"""Command-line options for a model and for how it runs on a device: the same keys as in the config."""

import argparse
import sys
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from edged import config
from edged.cli.options import frames
from edged.errors import ConfigError
from edged.messages.preparation import ON_COMMAND_LINE, Preprocess, Resize, default_warning
from edged.model.package import Model, load_model


def add_model_options(parser: argparse.ArgumentParser, default: str = "digits") -> None:
    """--model and what says how its input is prepared, for a model whose file does not say."""
    what = f"an ONNX file, or a named model (default: {default})"
    parser.add_argument("--model", default=default, metavar="NAME|FILE", help=what)
    add_input_options(parser, "input of the model, where its file does not say, or says it wrongly")


def add_input_options(parser: argparse.ArgumentParser, title: str) -> None:
    """The keys of the config's `model:` but which one it is."""
    group = parser.add_argument_group(title)
    group.add_argument(
        "--preprocess", choices=get_args(Preprocess), help="all of --resize to --std by one name, as in the config"
    )
    group.add_argument("--resize", choices=get_args(Resize), help="how a picture takes the input's shape")
    group.add_argument("--size", type=size, metavar="N|WxH", help="input size, or width and height")
    group.add_argument(
        "--color", choices=get_args(config.Color), help="channel order that the model wants, or gray: one channel"
    )
    group.add_argument("--scale", type=number, metavar="S", help="input = (pixel × S − mean) ÷ std; 1/255 is fine")
    group.add_argument(
        "--mean",
        type=by_channel,
        metavar="A,B,C",
        help="by channel, in the model's order; one number where it is gray",
    )
    group.add_argument("--std", type=by_channel, metavar="A,B,C", help="by channel, in the model's order")
    group.add_argument("--labels", type=Path, metavar="FILE", help="one label a line")


def given_model(arguments: argparse.Namespace) -> Model:
    """The model that the options of `add_model_options` name. Raises ConfigError, ModelError.

    Whoever reads is told if it is for timing only.
    """
    model = load_model(model_config(arguments))
    if model.random_weights:
        print(f"edged: {model.name} has random weights: for timing only, it recognises nothing", file=sys.stderr)
    return model


def show_preparation(model: Model) -> None:
    """Say on standard error how pictures become the model's input; a default is a warning with what to add."""
    if model.random_weights:
        return
    if model.prepared_by == "default":
        print(f"edged: warning: {default_warning(model.input.described, ON_COMMAND_LINE)}", file=sys.stderr)
        return
    source = {"config": "the command line says so", "file": "the model's file says so"}[model.prepared_by]
    print(f"edged: pictures are prepared as {model.input.described} ({source})", file=sys.stderr)


def model_config(arguments: argparse.Namespace) -> config.Model:
    """What the options of `add_model_options` ask for. Raises ConfigError."""
    source = "path" if is_file_name(arguments.model) else "name"
    return validated(**{source: arguments.model, **given_keys(arguments)})


def given_keys(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those of `add_input_options` that were given."""
    keys = ("preprocess", "resize", "size", "color", "scale", "mean", "std", "labels")
    return {key: getattr(arguments, key) for key in keys if getattr(arguments, key) is not None}


def validated(**keys: Any) -> config.Model:
    """The section of a config with these keys. Raises ConfigError, which names options."""
    try:
        return config.Model(**keys)
    except ValidationError as error:
        problems = [f"--{'.'.join(map(str, e['loc'][:1]))}: {e['msg']}" for e in error.errors()]
        raise ConfigError("; ".join(problems)) from None


def is_file_name(model: str) -> bool:
    """Whether --model means a file: it has a suffix or a folder, or is there."""
    return "/" in model or "." in model or Path(model).is_file()


def size(text: str) -> int | tuple[int, int]:
    """120 or 160x120 (width × height)."""
    width, cross, height = text.lower().partition("x")
    try:
        return (int(width), int(height)) if cross else int(width)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected 120 or 160x120, found {text!r}") from None


def number(text: str) -> float:
    """0.0039 or 1/255."""
    numerator, slash, denominator = text.partition("/")
    try:
        return float(numerator) / float(denominator) if slash else float(numerator)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"expected 0.5 or 1/255, found {text!r}") from None


def by_channel(text: str) -> tuple[float, ...]:
    """0.485,0.456,0.406, or one number for a gray network."""
    numbers = tuple(map(number, text.split(",")))
    if len(numbers) not in {1, 3}:
        raise argparse.ArgumentTypeError(f"expected three numbers such as 0.5,0.5,0.5, or one, found {text!r}")
    return numbers


def add_plan_options(
    parser: argparse.ArgumentParser, *, device: str = "as in the config", precision: str = "as in the config"
) -> None:
    """--device, --batch and --precision. `device`, `precision`: what their help says."""
    parser.add_argument("--device", default="auto", metavar="NAME", help=f"{device} (default: auto)")
    parser.add_argument("--batch", type=frames, default=1, metavar="N", help="frames of a job (default: 1)")
    precisions = get_args(config.Precision)
    parser.add_argument("--precision", choices=precisions, default="fp32", help=f"{precision} (default: fp32)")


def add_variants(parser: argparse.ArgumentParser, *, compare: str) -> None:
    """--conv and --compare. `compare`: what its help says."""
    variant = (
        "variant of the convolutions, such as vector, winograd, general, naive; auto (default): what is tuned"
    )
    parser.add_argument("--conv", default="auto", metavar="VARIANT", help=variant)
    parser.add_argument("--compare", metavar="VARIANT", help=compare)


def variants_of(arguments: argparse.Namespace) -> list[str]:
    """One or two, as `add_variants` has them."""
    return [arguments.conv, *([arguments.compare] if arguments.compare else [])]
