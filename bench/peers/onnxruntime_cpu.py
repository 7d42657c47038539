"""onnxruntime's CPU provider, its optimisations as they are by default (all)."""

import numpy as np

from bench.peers.cases import Case, Run
from edged.model.reference import Array


def prepare(case: Case, threads: int, device: str, *, quantized: bool = False) -> Run:
    """One operator at a time, `threads` within each: its configuration for latency. `quantized`: with 8 bits."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model = case.quantized.read_bytes() if quantized else case.onnx
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run() -> Array:
        outputs = session.run(None, {case.network.input: case.x})
        return (
            np.asarray(outputs[0]) if len(outputs) == 1 else np.concatenate([each.reshape(-1) for each in outputs])
        )

    return run
