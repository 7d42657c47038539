"""What onnxruntime makes of a file that edged reads."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}


def answers(path: Path, images: NDArray[Any], *, channels_last: bool) -> NDArray[Any] | None:
    """The first output [n, values] for `images` [n, channels, height, width]; None where it refuses the file.

    Each image alone: a damaged file may mix those of a batch.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = images.transpose(0, 2, 3, 1) if channels_last else images
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        entry = session.get_inputs()[0]
        batches = [np.ascontiguousarray(x[i : i + 1], TYPES[entry.type]) for i in range(len(x))]
        outputs = [session.run(None, {entry.name: batch})[0] for batch in batches]
    except Exception:  # its own errors have no base
        return None
    return np.asarray(outputs, np.float64).reshape(len(images), -1)
