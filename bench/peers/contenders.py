"""Who takes part, in the order of the table. A contender's file imports its library only when it is prepared."""

from collections.abc import Callable, Mapping
from functools import partial

from bench.peers import clblast, ncnn_cpu, onnxruntime_cpu, opencv_opencl, openvino_cpu, ours, tinygrad_opencl
from bench.peers.cases import Case, Run
from edged.engine.selection import Rules

YARDSTICK = "onnxruntime"  # what the others are divided by

# Each becomes a run for a case with so many threads on the OpenCL device of that name; it may raise anything.
CONTENDERS: Mapping[str, Callable[[Case, int, str], Run]] = {
    "edged": ours.prepare,
    "edged-rules": partial(ours.prepare, chooser=Rules()),
    "edged-fp16-weights": partial(ours.prepare, precision="fp16-weights"),
    "edged-bf16": partial(ours.prepare, precision="bf16"),
    "edged-int8": partial(ours.prepare, quantized=True),
    YARDSTICK: onnxruntime_cpu.prepare,
    "onnxruntime-int8": partial(onnxruntime_cpu.prepare, quantized=True),
    "openvino": openvino_cpu.prepare,
    "openvino-bf16": partial(openvino_cpu.prepare, precision="bf16"),
    "openvino-int8": partial(openvino_cpu.prepare, quantized=True),
    "ncnn": ncnn_cpu.prepare,
    "ncnn-no-winograd": partial(ncnn_cpu.prepare, winograd=False),
    "clblast": clblast.prepare,
    "tinygrad": tinygrad_opencl.prepare,
    "opencv-opencl": opencv_opencl.prepare,
    "edged-naive": partial(ours.prepare, chooser=Rules("naive")),
}

NOTES = {
    "edged-int8": "8 bits, as all `-int8`: one QDQ file, calibrated by onnxruntime's tools on the case's images",
    "edged": "as tuned where there are tuning records for the device, by the rules elsewhere",
    "edged-rules": "without any tuning record",
    "clblast": "im2col and GEMM of the convolutions alone, each within 1e-5 of the reference",
    "opencv-opencl": "DNN module, classic engine; a layer whose kernel it cannot compile it computes on the CPU",
    "tinygrad": "OnnxRunner and TinyJit on its OpenCL device",
    "edged-naive": "one work-item an output, as in a textbook",
    "ncnn": "a batch is run frame by frame",
    "ncnn-no-winograd": "a batch is run frame by frame",
}
