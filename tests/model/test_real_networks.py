"""Real networks of other families than ResNets, from the shared data, with the answers of onnxruntime."""

from pathlib import Path

import numpy as np

from edged.model import reference
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import onnxruntime_outputs, relative_error

HALF = 2e-3  # onnxruntime computes files of float16 in float16


def test_squeezenet_of_float16_answers_as_onnxruntime_does(shared_data: Path) -> None:
    path = shared_data / "models" / "squeezenet_fp16.onnx"
    x = np.random.default_rng(2).uniform(-2, 2, (2, 3, 224, 224)).astype(np.float16)

    found = reference.run(simplify(read_onnx(path)), x)

    expected = onnxruntime_outputs(path, x[:1]), onnxruntime_outputs(path, x[1:])
    assert relative_error(found, np.concatenate(expected)) < HALF
    assert (found.argmax(1) == np.concatenate(expected).argmax(1)).all()
