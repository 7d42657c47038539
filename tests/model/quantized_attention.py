"""A block of attention as exporters write it, and its int8 file as onnxruntime's `quantize_static` writes it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

from tests.model.onnx_files import Network
from tests.model.token_networks import integers, layer_norm, linear, number

SIDE, TOKENS, DIM, HEADS = 8, 4, 8, 2
HEAD_DIM = DIM // HEADS

Parts = tuple[str, str, str]  # q, kᵀ and v, each with the heads before the tokens


def by_gather(network: Network, tokens: str) -> Parts:
    """Timm's vision transformers: one layer, whose output becomes [3, batch, heads, tokens, channels]."""
    moved = _three_first(network, tokens)
    q, k, v = (network.add("Gather", network.weight(np.array(i, np.int64)), reads=moved, axis=0) for i in range(3))
    return q, network.add("Transpose", reads=k, perm=[0, 1, 3, 2]), v


def by_range(network: Network, tokens: str) -> Parts:
    """The same with an index that is a list, and a Squeeze behind it."""
    moved = _three_first(network, tokens)
    taken = [network.add("Gather", integers(network, i), reads=moved, axis=0) for i in range(3)]
    q, k, v = (network.add("Squeeze", integers(network, 0), reads=each) for each in taken)
    return q, network.add("Transpose", reads=k, perm=[0, 1, 3, 2]), v


def by_slice(network: Network, tokens: str) -> Parts:
    """Slices of the last axis of one layer."""
    joined = linear(network, tokens, DIM, 3 * DIM)
    ends = [[integers(network, each) for each in (i * DIM, i * DIM + DIM, 2)] for i in range(3)]
    return _heads(network, *(network.add("Slice", *each, reads=joined) for each in ends))


def by_gemm(network: Network, tokens: str) -> Parts:
    """Three Gemm of the tokens of one frame, without an axis for the batch."""
    rows = network.add("Reshape", integers(network, TOKENS, DIM), reads=tokens)
    weights = [(network.normal(DIM, DIM, std=DIM**-0.5), network.normal(DIM, std=0.1)) for _ in range(3)]
    return _heads(network, *(network.add("Gemm", *each, reads=rows) for each in weights))


PARTS: Mapping[str, Callable[[Network, str], Parts]] = {
    "gather": by_gather,
    "range": by_range,
    "slice": by_slice,
    "gemm": by_gemm,
}


def attention(parts: str) -> Network:
    """Patches of 4×4, a norm, attention with a sum around it, and the mean of the tokens."""
    network = Network([1, 3, SIDE, SIDE])
    network.add("Conv", network.normal(DIM, 3, 4, 4, std=0.2), network.normal(DIM), strides=[4, 4])
    network.add("Reshape", integers(network, 1, DIM, TOKENS))
    tokens = network.add("Transpose", perm=[0, 2, 1])
    q, k, v = PARTS[parts](network, layer_norm(network, tokens, DIM))
    network.add("MatMul", k, reads=network.add("Mul", number(network, HEAD_DIM**-0.5), reads=q))
    network.add("MatMul", v, reads=network.add("Softmax", axis=-1))
    network.add("Transpose", perm=[0, 2, 1, 3])
    seen = network.add("Reshape", integers(network, 1, TOKENS, DIM))
    network.add("Add", linear(network, seen, DIM, DIM), reads=tokens)
    network.add("ReduceMean", axes=[1], keepdims=0)
    network.add("Gemm", network.normal(DIM, 5), network.normal(5))
    return network


def quantized(network: Network, folder: Path) -> Path:
    """Save the int8 file of a network."""
    floats, path = network.save(folder / "floats.onnx"), folder / "quantized.onnx"
    quantize_static(floats, path, _Pictures(), quant_format=QuantFormat.QDQ)
    return path


def picture(seed: int = 9) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random((1, 3, SIDE, SIDE), np.float32)


class _Pictures(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self) -> None:
        self._pictures = iter(range(4))

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        seed = next(self._pictures, None)
        return None if seed is None else {"input": picture(seed)}


def _three_first(network: Network, tokens: str) -> str:
    joined = linear(network, tokens, DIM, 3 * DIM)
    network.add("Reshape", integers(network, 1, TOKENS, 3, HEADS, HEAD_DIM), reads=joined)
    return network.add("Transpose", perm=[2, 0, 3, 1, 4])


def _heads(network: Network, q: str, k: str, v: str) -> Parts:
    shape = integers(network, 1, TOKENS, HEADS, HEAD_DIM)
    q, k, v = (network.add("Reshape", shape, reads=each) for each in (q, k, v))
    orders = [0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]
    turned = [
        network.add("Transpose", reads=each, perm=perm) for each, perm in zip((q, k, v), orders, strict=True)
    ]
    return turned[0], turned[1], turned[2]
