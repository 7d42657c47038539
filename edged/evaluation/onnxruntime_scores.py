"""The scores of onnxruntime, where that package is installed: another implementation to compare with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.model import reference
from edged.model.model_file import is_compressed, read_content
from edged.model.package import Input
from edged.system.python_packages import install_command

TYPES = {"tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(uint8)": np.uint8}
QUIET = 4  # log level of onnxruntime: fatal errors only


@dataclass(frozen=True, eq=False)
class OtherScores:
    """`scores`: all outputs, float32 [n, values]; None because of `problem`. `version`: of the package."""

    version: str
    scores: NDArray[np.float32] | None = None
    problem: str = ""


def onnxruntime_scores(path: Path, model_input: Input, images: NDArray[np.uint8]) -> OtherScores:
    """Compute a file by onnxruntime for pictures, uint8 RGB [n, height, width, 3], one by one.

    It computes a file of float16 in float16.
    """
    try:
        import onnxruntime
    except ImportError:
        return OtherScores("", problem=f"onnxruntime is not installed: {install_command('onnxruntime')}")
    version = str(onnxruntime.__version__)
    try:
        scores = _scores(onnxruntime, path, reference.prepare(images, model_input))
    except Exception as error:  # it raises its own kinds, which have no common base
        return OtherScores(version, problem=f"onnxruntime {version} does not run it: {error}")
    return OtherScores(version, scores)


def _scores(onnxruntime: Any, path: Path, x: NDArray[np.float32]) -> NDArray[np.float32]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = QUIET
    source = read_content(path) if is_compressed(path) else str(path)  # weights may lie beside a file
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    sizes = zip(entry.shape[1:], x.shape[1:], strict=True)
    if any(size != found for size, found in sizes if isinstance(size, int)):  # open sizes are names or None
        x = x.transpose(0, 2, 3, 1)
    inputs = x.astype(TYPES.get(entry.type, np.float32))
    jobs = (session.run(None, {entry.name: one[np.newaxis]}) for one in inputs)
    return np.stack([np.concatenate([np.ravel(output) for output in job]) for job in jobs]).astype(np.float32)
