"""ONNX files for tests: single nodes and whole ResNets with random weights; and what onnxruntime makes of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.model.resnet import BLOCKS, BOTTLENECK_FROM

Head = Literal["flatten", "reshape", "shape_of", "reduce_mean", "squeeze", "conv"]


def onnxruntime_outputs(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    """The first output [n, values] of a file for the batch `x`, in its layout."""
    return _run(path, x)[0].reshape(len(x), -1)


def onnxruntime_all_outputs(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    """All outputs of a file for the batch `x`, one behind the other: [n, values]."""
    return np.concatenate([output.reshape(len(x), -1) for output in _run(path, x)], axis=1)


def _run(path: Path, x: NDArray[Any]) -> list[NDArray[Any]]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [np.asarray(output) for output in session.run(None, {session.get_inputs()[0].name: x})]


def relative_error(got: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference as a share of the expected values' range."""
    return float(np.abs(got - expected).max() / max(float(np.ptp(expected)), 1e-6))


class Network:
    """Nodes one after the other; `tensor` is what the last one wrote."""

    def __init__(self, shape: Sequence[int | str], *, opset: int = 17, seed: int = 0) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.shape = list(shape)
        self.opset = opset
        self.input_type = TensorProto.FLOAT
        self.tensor = "input"
        self.random = np.random.default_rng(seed)

    def __repr__(self) -> str:
        """For an example of hypothesis."""
        nodes = [f"{node.output[0]} = {node.op_type}({', '.join(node.input)})" for node in self.nodes]
        weights = {weight.name: numpy_helper.to_array(weight).tolist() for weight in self.weights}
        return f"{self.shape} {'; '.join(nodes)} {weights}"

    def add(self, kind: str, *inputs: str, reads: str | None = None, **attributes: Any) -> str:
        """A node that reads the last tensor (or `reads`), then `inputs`."""
        name = f"{kind.lower()}_{len(self.nodes)}"
        first = self.tensor if reads is None else reads
        self.nodes.append(helper.make_node(kind, [first, *inputs], [name], name, **attributes))
        self.tensor = name
        return name

    def weight(self, values: NDArray[Any]) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def normal(self, *shape: int, std: float = 1.0) -> str:
        return self.weight((self.random.standard_normal(shape) * std).astype(np.float32))

    def model(self, metadata: Mapping[str, str] | None = None) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "test",
            [helper.make_tensor_value_info("input", self.input_type, self.shape)],
            [helper.make_tensor_value_info(self.tensor, TensorProto.FLOAT, None)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        helper.set_model_props(model, dict(metadata or {}))
        return model

    def save(self, path: Path, metadata: Mapping[str, str] | None = None) -> Path:
        path.write_bytes(self.model(metadata).SerializeToString())
        return path


def resnet(
    depth: int,
    width: int | str = 64,
    height: int | str = 64,
    *,
    batch: int | str = "N",
    batch_norm: bool = True,
    version: Literal["v1", "v1.5"] = "v1.5",
    base: int = 64,
    classes: int = 1000,
    head: Head = "flatten",
    opset: int = 17,
    seed: int = 0,
) -> Network:
    """As exporters write it: He et al., 2015, with `base` channels in the first stage."""
    network = Network([batch, 3, height, width], opset=opset, seed=seed)
    builder = _ResNet(network, batch_norm)
    builder.conv(3, base, kernel=7, stride=2)
    network.add("Relu")
    network.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = base
    for stage, blocks in enumerate(BLOCKS[depth]):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            if depth >= BOTTLENECK_FROM:
                channels = builder.bottleneck(channels, base << stage, stride, version)
            else:
                channels = builder.basic(channels, base << stage, stride)
    builder.head(head, channels, classes)
    return network


class _ResNet:
    def __init__(self, network: Network, batch_norm: bool) -> None:
        self.network = network
        self.batch_norm = batch_norm

    def conv(self, channels: int, out: int, kernel: int, stride: int = 1, *, gain: float = 1.0) -> str:
        std = gain * float(np.sqrt(2 / (channels * kernel**2)))
        weight = self.network.normal(out, channels, kernel, kernel, std=std)
        bias = () if self.batch_norm else (self.network.normal(out, std=0.1),)
        pads = [kernel // 2] * 4
        self.network.add("Conv", weight, *bias, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)
        if self.batch_norm:
            spread = self.network.random.uniform(0.5, 1.5, (2, out)).astype(np.float32)
            scale, variance = self.network.weight(spread[0]), self.network.weight(spread[1])
            bias_and_mean = self.network.normal(out, std=0.1), self.network.normal(out, std=0.1)
            self.network.add("BatchNormalization", scale, *bias_and_mean, variance, epsilon=1e-5)
        return self.network.tensor

    def basic(self, channels: int, out: int, stride: int) -> int:
        start = self.network.tensor
        self.conv(channels, out, 3, stride)
        self.network.add("Relu")
        return self._join(self.conv(out, out, 3, gain=0.5), start, channels, out, stride)

    def bottleneck(self, channels: int, middle: int, stride: int, version: str) -> int:
        start, out = self.network.tensor, middle * 4
        self.conv(channels, middle, 1, stride if version == "v1" else 1)
        self.network.add("Relu")
        self.conv(middle, middle, 3, 1 if version == "v1" else stride)
        self.network.add("Relu")
        return self._join(self.conv(middle, out, 1, gain=0.5), start, channels, out, stride)

    def _join(self, branch: str, start: str, channels: int, out: int, stride: int) -> int:
        shortcut = start
        if stride > 1 or channels != out:
            self.network.tensor = start
            shortcut = self.conv(channels, out, 1, stride)
        self.network.add("Add", shortcut, reads=branch)
        self.network.add("Relu")
        return out

    def head(self, head: Head, channels: int, classes: int) -> None:
        network = self.network
        weight = (network.random.standard_normal((classes, channels)) / np.sqrt(channels)).astype(np.float32)
        if head == "reduce_mean":
            network.add("ReduceMean", axes=[-2, -1], keepdims=0)
            network.add("MatMul", network.weight(weight.T.copy()))
            network.add("Add", network.normal(classes, std=0.1))
            return
        network.add("GlobalAveragePool")
        if head == "conv":
            network.add("Conv", network.weight(weight[:, :, None, None]), network.normal(classes, std=0.1))
            return
        if head == "flatten":
            network.add("Flatten", axis=1)
        elif head == "reshape":
            network.add("Reshape", network.weight(np.array([0, -1], np.int64)))
        elif head == "squeeze":
            network.add("Squeeze", network.weight(np.array([2, 3], np.int64)))
        else:
            self._flatten_by_shape()
        bias = network.normal(classes, std=0.1)
        network.add("Gemm", network.weight(weight), bias, transB=1, alpha=0.5, beta=2.0)

    def _flatten_by_shape(self) -> None:
        """`x.view(x.size(0), -1)` as older PyTorch exports it."""
        network = self.network
        pooled = network.tensor
        network.add("Shape")
        network.add("Gather", network.weight(np.array(0, np.int64)), axis=0)
        batch = network.add("Unsqueeze", network.weight(np.array([0], np.int64)))
        rest = network.weight(np.array([-1], np.int64))
        shape = network.add("Concat", rest, reads=batch, axis=0)
        network.add("Reshape", shape, reads=pooled)
