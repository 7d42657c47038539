"""Quantize a detector, and leave those layers in floats that disturb its boxes most for what they cost.

Each layer is quantized alone first (`layer_effects`). Those with the most noise for each of their multiplications
stay in floats: as many as the mean average precision needs, on pictures that did not choose them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Graph, Pair
from edged.model.onnx_reader import graph_of
from edged.model.passes import simplify
from edged.quantization.calibration import Calibration, Quantizer
from edged.quantization.layer_effects import LayerEffect, layer_effects
from edged.quantization.noise import layer_noise
from edged.quantization.search import COMPARED, Quantized, share_of_whole_numbers
from edged.system.plain_text import counted


class BoxJudging(Protocol):
    """What measures a detector: the mAP of its boxes, on a device and by onnxruntime."""

    accuracy: float  # of the original network

    def accuracy_of(self, weights_sha256: str, graph: Callable[[], Graph]) -> float:
        """Return that of a network with other weights, on the device."""

    def accuracy_by_onnxruntime(self, file: Path) -> float:
        """Return that of a file by onnxruntime: no kernels are compiled for it."""


def quantize_detector(
    file: OnnxFile,
    size: Pair,
    calibration: Calibration,
    judge: BoxJudging,
    max_loss: float,
    show: Callable[[str], None],
) -> Quantized:
    """Return the file that loses at most `max_loss` with the fewest layers in floats, of those tried.

    `max_loss`: a share of 1, as what `judge` measures. onnxruntime decides, the device measures the file that is
    returned. If all files lose too much, it is the most accurate one. Raises ModelError.
    """
    quantizer = Quantizer(file, calibration)
    try:
        effects = _shown(layer_effects(quantizer, size), show)
        if not effects:
            raise ModelError(f"{file.path}: has no layers to quantize: expected Conv, Gemm or MatMul")
        search = _DetectorSearch(quantizer, sorted(effects, key=lambda each: -each.gain), judge, show)
        best = search.best(judge.accuracy - max_loss)
        return _measured(quantizer, size, best, judge)
    finally:
        quantizer.close()


def _shown(effects: Iterator[LayerEffect], show: Callable[[str], None]) -> list[LayerEffect]:
    found = []
    for each in effects:
        found.append(each)
        show(f"{counted(len(found), 'layer')} compared, each quantized alone")
    return found


@dataclass(frozen=True, eq=False)
class _TriedDetector:
    """A quantized file, its mAP by onnxruntime, and how many layers of the search's order are in floats."""

    file: OnnxFile
    accuracy: float
    count: int


@dataclass(frozen=True, eq=False)
class _DetectorSearch:
    """Searches how many layers stay in floats, the first ones of `order`."""

    quantizer: Quantizer
    order: Sequence[LayerEffect]
    judge: BoxJudging
    show: Callable[[str], None]

    def best(self, least: float) -> _TriedDetector:
        """Try 0, 1, 2, 4 … layers, then fewer ones, down to the last number with a lower mAP than `least`."""
        tried = []
        for count in _counts(len(self.order)):
            tried.append(self._run(count))
            if tried[-1].accuracy >= least:
                return self._fewest(tried[-2].count if len(tried) > 1 else -1, tried[-1], least)
        return max(tried, key=lambda each: each.accuracy)

    def _fewest(self, failed: int, passed: _TriedDetector, least: float) -> _TriedDetector:
        """Bisect between a number of layers that lost too much and one that did not."""
        while passed.count - failed > 1:
            tried = self._run((failed + passed.count) // 2)
            if tried.accuracy >= least:
                passed = tried
            else:
                failed = tried.count
        return passed

    def _run(self, count: int) -> _TriedDetector:
        file = self.quantizer.quantize(self.in_floats(count))
        accuracy = self.judge.accuracy_by_onnxruntime(file.path)
        self.show(f"{count} of {counted(len(self.order), 'layer')} in floats: mAP {100 * accuracy:.2f} %")
        return _TriedDetector(file, accuracy, count)

    def in_floats(self, count: int) -> list[str]:
        return [each.node for each in self.order[:count]]


def _counts(layers: int) -> Iterator[int]:
    """Yield 0, 1, 2, 4 … and all layers but one: with that one it would not be quantized."""
    yield 0
    count = 1
    while count < layers - 1:
        yield count
        count *= 2
    if layers > 1:
        yield layers - 1


def _measured(quantizer: Quantizer, size: Pair, best: _TriedDetector, judge: BoxJudging) -> Quantized:
    """Return the file with its mAP on the device, and the noise of its layers."""
    graph = graph_of(best.file, size)
    accuracy = judge.accuracy_of(best.file.sha256, lambda: simplify(graph))
    calibration = quantizer.calibration
    x = reference.prepare(calibration.pictures[:COMPARED], calibration.model_input)
    noise = layer_noise(graph_of(quantizer.float_file, size), graph, x)
    left = tuple(each.layer for each in noise if not each.is_quantized)
    return Quantized(best.file.path.read_bytes(), accuracy, noise, left, share_of_whole_numbers(graph))
