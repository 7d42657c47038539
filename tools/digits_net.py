"""The network `digits`: a ResNet of ten convolutions for 120×120×3, in PyTorch, and how it becomes ONNX."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from edged.train.drawn.frames import LABELS, SIDE

MEAN, STD = 0.5, 0.25
WIDTHS = (32, 48, 80, 128)


class Block(nn.Module):
    """Two 3×3 convolutions, the first with stride 2, and a 1×1 beside them (He et al. 2015, v1, projection)."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.first = _conv(before, after, 3, 2)
        self.second = _conv(after, after, 3, 1)
        self.beside = _conv(before, after, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(torch.relu(self.first(x))) + self.beside(x))


class Digits(nn.Module):
    """uint8-like RGB [n, 3, 120, 120], normalised to (x/255 − 0.5)/0.25 → scores [n, 11] before the softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _conv(3, WIDTHS[0], 7, 4)
        self.blocks = nn.Sequential(*(Block(a, b) for a, b in pairwise(WIDTHS)))
        self.head = nn.Linear(WIDTHS[-1], len(LABELS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.blocks(torch.relu(self.stem(x))).mean((2, 3))
        scores: Tensor = self.head(self.dropout(features))
        return scores


def _conv(before: int, after: int, kernel: int, stride: int) -> nn.Sequential:
    conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(after))


def to_onnx(net: Digits) -> onnx.ModelProto:
    """Opset 13, any batch, BatchNorm folded into the convolutions, with the metadata that edged reads."""
    graph = _Writer()
    x = graph.relu(graph.conv("stem", net.stem, "image"))
    for index, block in enumerate(net.blocks):
        assert isinstance(block, Block)
        name = f"block{index + 1}"
        y = graph.relu(graph.conv(f"{name}.first", block.first, x))
        y = graph.conv(f"{name}.second", block.second, y)
        x = graph.relu(graph.node("Add", [y, graph.conv(f"{name}.beside", block.beside, x)]))
    x = graph.node("Flatten", [graph.node("GlobalAveragePool", [x])])
    weight, bias = graph.weight("head.weight", net.head.weight), graph.weight("head.bias", net.head.bias)
    graph.node("Gemm", [x, weight, bias], output="scores", transB=1)
    return graph.model()


class _Writer:
    """Collects nodes and weights."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def relu(self, x: str) -> str:
        return self.node("Relu", [x])

    def weight(self, name: str, value: Tensor) -> str:
        self.weights.append(numpy_helper.from_array(value.detach().float().contiguous().numpy(), name))
        return name

    def conv(self, name: str, layer: nn.Sequential, x: str) -> str:
        """y = (w·x − mean) · gamma/√(var + eps) + beta, as one convolution with a bias."""
        conv, norm = layer
        assert isinstance(conv, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight = self.weight(f"{name}.weight", conv.weight * factor[:, None, None, None])
        bias = self.weight(f"{name}.bias", norm.bias - norm.running_mean * factor)
        kernel, stride = conv.kernel_size[0], conv.stride[0]
        window, steps, pads = [kernel] * 2, [stride] * 2, [kernel // 2] * 4
        return self.node("Conv", [x, weight, bias], kernel_shape=window, strides=steps, pads=pads)

    def model(self) -> onnx.ModelProto:
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, SIDE, SIDE])
        scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", len(LABELS)])
        graph = helper.make_graph(self.nodes, "digits", [image], [scores], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        model.producer_name = "edged tools/train_digits.py"
        facts = {"name": "digits", "labels": json.dumps(LABELS), "color": "rgb", "scale": repr(1 / 255)}
        facts |= {"mean": json.dumps([MEAN] * 3), "std": json.dumps([STD] * 3)}
        helper.set_model_props(model, {f"edged.{key}": value for key, value in facts.items()})
        onnx.checker.check_model(model, full_check=True)
        return model


def normalise(images: Tensor) -> Tensor:
    """uint8 [n, 120, 120, 3] → float32 [n, 3, 120, 120] (channels last in memory)."""
    return images.permute(0, 3, 1, 2).float().div_(255).sub_(MEAN).div_(STD)


def flip_colours(images: np.ndarray[Any, np.dtype[np.uint8]], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Channels in another order and, half the time, the negative: the same frame in other colours."""
    mixed = np.ascontiguousarray(images[..., rng.permutation(3)])
    return 255 - mixed if rng.random() < 0.5 else mixed
