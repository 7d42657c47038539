"""OpenVINO's CPU plugin, for latency."""

import numpy as np

from bench.peers.cases import Case, Run
from edged.model.reference import Array


def prepare(case: Case, threads: int, device: str, *, precision: str = "f32", quantized: bool = False) -> Run:
    """Bind input and output tensors once: `infer([x])` would take 0.04 ms more.

    LATENCY is one stream of all threads. precision: its hint; `quantized`: with 8 bits.
    """
    import openvino

    core = openvino.Core()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": threads,
    }
    request = core.compile_model(
        core.read_model(case.quantized.read_bytes() if quantized else case.onnx), "CPU", settings
    ).create_infer_request()
    request.set_input_tensor(openvino.Tensor(np.ascontiguousarray(case.x), shared_memory=True))
    scores = request.get_output_tensor()

    def run() -> Array:
        request.start_async()
        request.wait()
        return np.array(scores.data)

    return run
