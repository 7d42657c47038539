"""OpenVINO's CPU plugin, in float32 and for latency."""

import numpy as np

from edged.model.reference import Array
from tests.perf.peers.cases import Case
from tests.perf.peers.runs import Run


def prepare(case: Case, threads: int, device: str) -> Run:
    """Bind input and output tensors once: `infer([x])` would take 0.04 ms more.

    LATENCY is one stream of all threads.
    """
    import openvino

    core = openvino.Core()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
    }
    request = core.compile_model(core.read_model(case.onnx), "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(np.ascontiguousarray(case.x), shared_memory=True))
    scores = request.get_output_tensor()

    def run() -> Array:
        request.start_async()
        request.wait()
        return np.array(scores.data)

    return run
