"""OpenVINO's CPU plugin, in float32 and for latency."""

import numpy as np

from tests.perf.peers.cases import Case
from tests.perf.peers.turns import Run


def prepare(case: Case, threads: int, device: str) -> Run:
    """The LATENCY hint makes one stream of all threads; the input is not copied."""
    import openvino

    core = openvino.Core()
    wishes = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
    }
    request = core.compile_model(core.read_model(case.onnx), "CPU", wishes).create_infer_request()
    return lambda: np.asarray(request.infer([case.x], share_inputs=True)[0])
