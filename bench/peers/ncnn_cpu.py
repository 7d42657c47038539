"""ncnn on the CPU, in float32."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.cases import Case, Run
from bench.peers.ncnn_model import ncnn_model


def prepare(case: Case, threads: int, device: str, winograd: bool = True) -> Run:
    """A batch is run frame by frame: ncnn knows none."""
    net = _load(case, threads, winograd)

    def run() -> Any:
        return np.stack([_scores(net, case, frame) for frame in case.x])

    return run


def _load(case: Case, threads: int, winograd: bool) -> Any:
    import ncnn

    net = ncnn.Net()
    net.opt.num_threads = threads
    net.opt.use_winograd_convolution = winograd
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    net.opt.use_bf16_storage = False
    param, weights = ncnn_model(case.network)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "net.param").write_text(param)
        (Path(folder) / "net.bin").write_bytes(weights)
        if net.load_param(f"{folder}/net.param") or net.load_model(f"{folder}/net.bin"):
            raise RuntimeError("ncnn refused the model that was written for it")
    return net


def _scores(net: Any, case: Case, frame: Any) -> Any:
    import ncnn

    extractor = net.create_extractor()
    extractor.input(case.network.input, ncnn.Mat(frame))
    code, scores = extractor.extract(case.network.output)
    if code:
        raise RuntimeError(f"ncnn ended with code {code}")
    return np.array(scores)
