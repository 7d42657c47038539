"""Command-line options for a model and its execution plan: the same keys as in the config."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from edged import config
from edged.cli.options import frames
from edged.errors import ConfigError
from edged.messages.detection import DecodeWanted, Task
from edged.messages.preparation import ON_COMMAND_LINE, Preprocess, Resize, default_warning
from edged.messages.scores import ScoresWanted
from edged.system.terminal import note, warn

if TYPE_CHECKING:
    from edged.model.package import Model  # loads NumPy, before which `limit_threads` must be called

SOURCES = {
    "config": "from the command line",
    "file": "from the file",
    "layout": "as detectors of this layout usually take them",
    "default": "the default: nothing defines it",
}


def add_model_options(parser: argparse.ArgumentParser, default: str = "digits") -> None:
    """Add --model and the options of its input."""
    what = f"an ONNX file, or a named model (default: {default})"
    parser.add_argument("--model", default=default, metavar="NAME|FILE", help=what)
    add_input_options(parser, "input of the model, if its file does not describe it")


def add_input_options(parser: argparse.ArgumentParser, title: str) -> None:
    """Add the keys of the config's `model:`, except the model itself."""
    group = parser.add_argument_group(title)
    _add_preparation(group)
    _add_answers(group)


def _add_preparation(group: "argparse._ArgumentGroup") -> None:
    """Add how pictures become the network's input."""
    group.add_argument(
        "--preprocess",
        type=preset_or_file,
        metavar="PRESET|FILE.json",
        help=f"preset for --resize to --std, as in the config: {', '.join(get_args(Preprocess))}; or the file of "
        "Hugging Face that describes them: preprocessor_config.json, or timm's config.json",
    )
    group.add_argument("--resize", choices=get_args(Resize), help="how a picture is fitted to the input size")
    group.add_argument("--size", type=size, metavar="N|WxH", help="input size: one side, or width x height")
    group.add_argument(
        "--color", choices=get_args(config.Color), help="channel order of the input, or gray for one channel"
    )
    group.add_argument(
        "--scale",
        type=number,
        metavar="S",
        help="input = (pixel × S − mean) ÷ std; S may be 1/255",
    )
    group.add_argument(
        "--mean",
        type=by_channel,
        metavar="A,B,C",
        help="mean by channel, in the order of --color; one number for gray",
    )
    group.add_argument(
        "--std",
        type=by_channel,
        metavar="A,B,C",
        help="standard deviation, like --mean",
    )


def _add_answers(group: "argparse._ArgumentGroup") -> None:
    """Add what the network's outputs are."""
    group.add_argument("--labels", type=Path, metavar="FILE", help="text file with one label a line, or JSON")
    group.add_argument(
        "--scores",
        choices=get_args(ScoresWanted),
        help="what the network's outputs are (default: as its file says, else auto: as its last operators show)",
    )
    group.add_argument(
        "--threshold",
        type=number,
        metavar="P",
        help="score from which a label of independent ones, or a box, is there",
    )
    group.add_argument("--task", choices=get_args(Task), help="what the network is for, as in the config")
    group.add_argument(
        "--decode",
        choices=get_args(DecodeWanted),
        help="layout of a detector's outputs (default: as its file says, else auto: recognised by their shapes)",
    )


def given_model(arguments: argparse.Namespace) -> "Model":
    """Load the model of `add_model_options`; print a note if it is for timing only.

    Raises ConfigError, ModelError.
    """
    from edged.model.package import load_model

    model = load_model(model_config(arguments))
    if model.random_weights:
        note(f"{model.name} has random weights: it is for timing only")
    return model


def show_preparation(model: "Model") -> None:
    """Print how pictures are prepared for the model; warn if that is a default, and say what to add.

    Print what the scores are where that is not plain from the network, and the layout of a detector's outputs.
    Raises ModelError for useless thresholds.
    """
    if model.random_weights:
        return
    if model.detector:
        note(f"boxes are decoded as {model.detector.described}")
    else:
        _show_scores(model)
    if model.prepared_by == "default":
        warn(default_warning(model.input.described, ON_COMMAND_LINE))
        return
    note(f"pictures are prepared as {model.input.described} ({SOURCES[model.prepared_by]})")


def answers_as_object(model: "Model") -> dict[str, str]:
    """Return in words, for JSON, how boxes or scores follow from the network's outputs."""
    from edged.model.scores import score_rule

    if model.detector:
        return {"decoding": model.detector.described}
    return {"scoring": score_rule(model).described}


def _show_scores(model: "Model") -> None:
    from edged.model.scores import score_rule

    rule = score_rule(model)
    if rule.known_by != "network" or rule.is_independent or rule.is_binary:
        note(f"scores are {rule.described}")


def model_config(arguments: argparse.Namespace) -> config.ModelConfig:
    """Build the config section of `add_model_options`. Raises ConfigError."""
    from edged.model.package import is_file_name

    source = "path" if is_file_name(arguments.model) else "name"
    return validated(**{source: arguments.model, **given_keys(arguments)})


def given_keys(arguments: argparse.Namespace) -> dict[str, Any]:
    """Collect the options of `add_input_options` that were given, with what a file of --preprocess says.

    Raises ModelError for such a file.
    """
    keys = ("preprocess", "resize", "size", "color", "scale", "mean", "std", "labels", "scores", "threshold",
            "task", "decode")  # fmt: skip
    from edged.model.preparation_file import with_file_read

    return with_file_read({key: getattr(arguments, key) for key in keys if getattr(arguments, key) is not None})


def validated(**keys: Any) -> config.ModelConfig:
    """Build a `model:` section with these keys. Raises ConfigError, which names the options."""
    try:
        return config.ModelConfig(**keys)
    except ValidationError as error:
        problems = [f"--{'.'.join(map(str, e['loc'][:1]))}: {e['msg']}" for e in error.errors()]
        raise ConfigError("; ".join(problems)) from None


def preset_or_file(text: str) -> str | Path:
    """Return the name of a preset, or the path of a file."""
    if text in get_args(Preprocess):
        return text
    if text.endswith(".json"):
        return Path(text)
    raise argparse.ArgumentTypeError(
        f"expected {', '.join(get_args(Preprocess))} or a preprocessor_config.json, found {text!r}"
    )


def size(text: str) -> int | tuple[int, int]:
    """Parse 120 or 160x120 (width × height)."""
    width, cross, height = text.lower().partition("x")
    try:
        return (int(width), int(height)) if cross else int(width)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected 120 or 160x120, found {text!r}") from None


def number(text: str) -> float:
    """Parse 0.0039 or 1/255."""
    numerator, slash, denominator = text.partition("/")
    try:
        return float(numerator) / float(denominator) if slash else float(numerator)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"expected 0.5 or 1/255, found {text!r}") from None


def by_channel(text: str) -> tuple[float, ...]:
    """Parse 0.485,0.456,0.406, or one number for a gray network."""
    numbers = tuple(map(number, text.split(",")))
    if len(numbers) not in {1, 3}:
        raise argparse.ArgumentTypeError(f"expected three numbers such as 0.5,0.5,0.5, or one, found {text!r}")
    return numbers


def add_plan_options(
    parser: argparse.ArgumentParser,
    *,
    device: str = "device, as in the config",
    precision: str = "as in the config",
) -> None:
    """Add --device, --batch and --precision. `device`, `precision`: their help."""
    parser.add_argument("--device", default="auto", metavar="NAME", help=f"{device} (default: auto)")
    parser.add_argument("--batch", type=frames, default=1, metavar="N", help="frames per job (default: 1)")
    precisions = get_args(config.Precision)
    parser.add_argument("--precision", choices=precisions, default="fp32", help=f"{precision} (default: fp32)")


def add_variants(parser: argparse.ArgumentParser, *, compare: str) -> None:
    """Add --conv and --compare. `compare`: its help."""
    variant = (
        "variant of the convolutions, such as vector, winograd, general, naive (default: auto, the tuned ones)"
    )
    parser.add_argument("--conv", default="auto", metavar="VARIANT", help=variant)
    parser.add_argument("--compare", metavar="VARIANT", help=compare)


def variants_of(arguments: argparse.Namespace) -> list[str]:
    """List the one or two variants of `add_variants`."""
    return [arguments.conv, *([arguments.compare] if arguments.compare else [])]
