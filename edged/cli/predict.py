"""`edged predict`: classify pictures, or find objects in them, without a daemon."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from edged.cli.model_options import add_model_options, answers_as_object, given_model, show_preparation
from edged.cli.options import add_example, add_json, add_no_exif, positive
from edged.errors import ConfigError, DeviceError, EdgedError, ImageError, ModelError
from edged.messages import Box, Label
from edged.messages.message import as_dict
from edged.system.files import writing
from edged.system.plain_text import printable, printable_json
from edged.system.terminal import warn

if TYPE_CHECKING:  # loaded when there is a picture to classify
    from edged.cli.drawing import Drawing
    from edged.inference.ready_model import Floats, Pixels, ReadyModel
    from edged.model.package import Model


@dataclass(frozen=True, eq=False)
class Answer:
    """The result for one picture, of `size` (width, height), or the error. `outputs`: of the network, float32 [n].

    `top`: of a classifier. `boxes`: of a detector.
    """

    path: Path
    size: tuple[int, int] = (0, 0)
    outputs: "Floats | None" = None
    top: tuple[Label, ...] = ()
    boxes: tuple[Box, ...] = ()
    error: EdgedError | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the pictures, the model and the output."""
    parser.add_argument(
        "pictures", nargs="+", type=Path, metavar="PICTURE", help="a file, or a folder of pictures"
    )
    parser.add_argument("--top", type=positive, default=5, metavar="K", help="classes to print (default: 5)")
    add_json(parser, "one JSON object a line, for each picture")
    add_no_exif(parser)
    draw = "also write the picture with its boxes drawn; of several pictures: into the folder FILE"
    parser.add_argument("--draw", type=Path, metavar="FILE", help=draw)
    raw = "also write the network's outputs: .npy, float32 [pictures, outputs]; NaN for an unreadable picture"
    parser.add_argument("--raw", type=Path, metavar="FILE", help=raw)
    device = "as in the config (default: auto, or NumPy if there is no OpenCL device)"
    parser.add_argument("--device", metavar="NAME", help=device)
    add_model_options(parser)
    add_example(
        parser,
        "edged predict photo.jpg",
        "edged predict photos --model net.onnx --labels labels.txt",
        "edged predict street.jpg --model yolox_nano.onnx --labels coco.txt --draw found.jpg",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the result of each picture; the exit code is that of the first error."""
    if not any(path.exists() for path in arguments.pictures):
        return _report_absent(arguments.pictures, as_json=arguments.json)
    model = given_model(arguments)
    show_preparation(model)
    drawing = _drawing(arguments, model)
    ready = _open_device(model, arguments.device)
    answers = []
    for path in _pictures_in(arguments.pictures):
        picture, answer = _answer(path, ready, arguments)
        answers.append(answer)
        _print(answer, model, ready.device, as_json=arguments.json)
        if drawing and picture is not None and not answer.error:
            drawing.write(path, picture, answer.boxes)
    if arguments.raw:
        _write_raw(arguments.raw, answers, prod(model.graph.shapes[model.graph.output]))
    return next((answer.error.exit_code for answer in answers if answer.error), 0)


def _report_absent(paths: Sequence[Path], *, as_json: bool) -> int:
    """Report files that do not exist, at once: before a model is loaded and its kernels compile."""
    for path in paths:
        error = _absent(path)
        _print_error(error)
        if as_json:
            print(printable_json(json.dumps(_error_object(path, error), ensure_ascii=False)))
    return ImageError.exit_code


def _open_device(model: "Model", device: str | None) -> "ReadyModel":
    from edged.inference.ready_model import ReadyModel

    try:
        return ReadyModel(model, device or "auto")
    except DeviceError as error:
        if device is not None:
            raise
        warn(f"{error}; using NumPy instead")
        return ReadyModel(model, "numpy")


def _drawing(arguments: argparse.Namespace, model: "Model") -> "Drawing | None":
    """Return where pictures with boxes are written; None without --draw. Raises ConfigError."""
    from edged.cli.drawing import Drawing

    if arguments.draw is None:
        return None
    if model.detector is None:
        raise ConfigError(f"--draw {arguments.draw}: {model.name} is a classifier, and draws no boxes")
    return Drawing(arguments.draw, arguments.pictures)


def _pictures_in(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and the pictures of folders in the order of their names."""
    from edged.pictures.folders import pictures_in

    for path in paths:
        yield from (pictures_in(path) or [path]) if path.is_dir() else [path]


def _answer(path: Path, ready: "ReadyModel", arguments: argparse.Namespace) -> tuple["Pixels | None", Answer]:
    """Compute a picture; return it, too, if it can be read."""
    from edged.pictures.decode import read_picture

    try:
        _require_picture(path)
        picture = read_picture(path, upright=not arguments.no_exif)
        answer = Answer(path, picture.shape[1::-1], ready.outputs(picture))
    except ImageError as error:
        return None, Answer(path, error=error)
    try:
        return picture, _with_results(answer, ready, arguments.top)
    except ModelError as error:
        return picture, replace(answer, error=ModelError(f"{path}: {error}"))


def _with_results(answer: Answer, ready: "ReadyModel", most: int) -> Answer:
    """Return the answer with the boxes, or the `most` best labels, of its outputs. Raises ModelError."""
    assert answer.outputs is not None, "computed"  # noqa: S101
    if ready.is_detector:
        return replace(answer, boxes=ready.boxes_in(answer.outputs, *answer.size))
    return replace(answer, top=ready.top(ready.scores(answer.outputs), most))


def _require_picture(path: Path) -> None:
    from edged.pictures.folders import SUFFIXES

    if path.is_dir():
        raise ImageError(f"{path} has no pictures: expected {', '.join(sorted(SUFFIXES))}")
    if not path.exists():
        raise _absent(path)


def _absent(path: Path) -> ImageError:
    return ImageError(f"{path} does not exist")


def _print(answer: Answer, model: "Model", device: str, *, as_json: bool) -> None:
    if answer.error:
        _print_error(answer.error)
    if as_json:
        print(printable_json(json.dumps(_as_object(answer, model, device), ensure_ascii=False)), flush=True)
    elif not answer.error:
        print(printable(str(answer.path)))
        for line in _lines(answer) or [f"no {'box' if model.detector else 'label'} reaches its threshold"]:
            print(f"  {line}", flush=True)


def _lines(answer: Answer) -> list[str]:
    """Return a line for each label, or for each box, in pixels of the picture."""
    labels = [f"{label.score:.4f}  {label.index:4d}  {printable(label.label)}" for label in answer.top]
    return labels + [
        f"{box.score:.4f}  {box.index:4d}  {printable(box.label)}  {_in_pixels(box, answer.size)}"
        for box in answer.boxes
    ]


def _in_pixels(box: Box, size: tuple[int, int]) -> str:
    left, top, right, bottom = (round(share * side) for share, side in zip(box.box, size * 2, strict=True))
    return f"({left}, {top}) to ({right}, {bottom})"


def _print_error(error: EdgedError) -> None:
    print(f"edged: {error}", file=sys.stderr)


def _error_object(path: Path, error: EdgedError) -> dict[str, object]:
    return {"file": str(path), "error": str(error)}


def _as_object(answer: Answer, model: "Model", device: str) -> dict[str, object]:
    if answer.error:
        return _error_object(answer.path, answer.error)
    found = {"boxes": answer.boxes} if model.detector else {"top": answer.top}
    return {
        "file": str(answer.path),
        "size": list(answer.size),
        **{what: [as_dict(each) for each in several] for what, several in found.items()},
        "model": {
            "name": model.name,
            "sha256": model.sha256,
            "device": device,
            "random_weights": model.random_weights,
            "preparation": model.input.described,
            "prepared_by": model.prepared_by,
            **answers_as_object(model),
        },
    }


def _write_raw(path: Path, answers: Sequence[Answer], outputs: int) -> None:
    """Write one row a picture, in the order of the pictures."""
    import numpy as np

    nothing = np.full(outputs, np.nan, np.float32)
    rows = [nothing if answer.outputs is None else answer.outputs for answer in answers]
    with writing(f"--raw {path}"), path.open("wb") as file:
        np.save(file, np.stack(rows).astype(np.float32))
