"""What edged makes of an export: right by kernels alone, right with the host, refused, or wrong.

`python -m tests.conformance.zoo.compare FILE DEVICE…` prints it as JSON: a process of its own, whose memory ends
with it.
"""

import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from edged.config import ModelConfig
from edged.errors import EdgedError
from edged.inference.ready_model import ReadyModel
from edged.model.graph import OnHost, Shape
from edged.model.package import Model, load_model
from edged.model.reference import prepare
from tests.model.onnx_files import onnxruntime_all_outputs, relative_error

Floats = NDArray[np.float32]
Result = Literal["kernels", "host", "refused", "wrong", "not exported"]
LARGEST_ERROR = 1e-3  # of the range of the scores
PICTURES = 2


@dataclass(frozen=True)
class ZooOutcome:
    """`detail`: why it was refused or not exported, how wrong it is, or what the host computes."""

    library: str
    name: str
    exporter: str
    result: Result
    detail: str = ""


def outcome_of(path: Path, devices: tuple[str, ...]) -> tuple[Result, str]:
    """Compare the scores of an export on each device with onnxruntime's."""
    try:
        model = load_model(ModelConfig(path=path, preprocess="imagenet", resize="stretch"))
        errors = {device: _error(path, model, device) for device in devices}
    except EdgedError as error:
        return "refused", str(error).partition(": ")[2]
    if wrong := {device: error for device, error in errors.items() if not error <= LARGEST_ERROR}:
        return "wrong", ", ".join(f"{device}: error {error:.1e} of the range" for device, error in wrong.items())
    on_host = sorted({each.kind for each in model.graph.operators if isinstance(each, OnHost)})
    return ("host", ", ".join(on_host)) if on_host else ("kernels", "")


def _error(path: Path, model: Model, device: str) -> float:
    """Return the largest error of pictures of noise as a share of the range of the outputs."""
    model_input = model.input
    shape = (PICTURES, model_input.height, model_input.width, 3)
    pictures: NDArray[np.uint8] = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    with ReadyModel(model, device) as network:
        found = network.outputs(list(pictures))
    frames = prepare(pictures, model_input)
    expected = np.concatenate([onnxruntime_all_outputs(path, each[None]) for each in frames])
    if model.detector is None:
        return relative_error(found, expected)
    shapes = model.detector.shapes
    return max(
        _error_of_queries(*(_queries(each, shapes) for each in pair)) for pair in zip(found, expected, strict=True)
    )


def _queries(outputs: Floats, shapes: Sequence[Shape]) -> list[Floats]:
    """Return the outputs of one picture, [queries, …] each."""
    ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(outputs, ends), shapes, strict=True)]


def _error_of_queries(found: list[Floats], expected: list[Floats]) -> float:
    """Return how far a query is from the nearest one of the other side, as a share of the range of each output.

    Queries of equal scores are in no order.
    """
    one, other = (
        np.concatenate([part / np.ptp(whole) for part, whole in zip(side, expected, strict=True)], axis=1)
        for side in (found, expected)
    )
    distances = np.abs(one[:, None] - other[None]).max(axis=2)
    return float(max(distances.min(axis=0).max(), distances.min(axis=1).max()))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    print(json.dumps(outcome_of(Path(sys.argv[1]), tuple(sys.argv[2:]))))
