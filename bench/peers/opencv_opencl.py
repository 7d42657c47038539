"""OpenCV's DNN module on its OpenCL target.

Its classic engine alone has that target, and CPU devices must be allowed by the environment: see `__main__`.
"""

import tempfile
from pathlib import Path
from typing import Any

from bench.peers.cases import Case, Run


def prepare(case: Case, threads: int, device: str) -> Run:
    """Raises RuntimeError where OpenCV finds no OpenCL: it would compute on the CPU without a word."""
    import cv2

    cv2.setNumThreads(threads)
    cv2.ocl.setUseOpenCL(True)
    if not cv2.ocl.useOpenCL():
        raise RuntimeError("OpenCV finds no OpenCL device")
    with tempfile.TemporaryDirectory() as folder:  # it ignores the engine when it reads from memory
        (Path(folder) / "net.onnx").write_bytes(case.onnx)
        net = cv2.dnn.readNetFromONNX(f"{folder}/net.onnx", cv2.dnn.ENGINE_CLASSIC)
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.setPreferableTarget(cv2.dnn.DNN_TARGET_OPENCL)

    def run() -> Any:
        net.setInput(case.x)
        return net.forward()

    return run
