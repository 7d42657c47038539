"""Quantize a network, and leave those layers in floats that cost more accuracy than is allowed."""

from collections.abc import Callable
from dataclasses import dataclass

from edged.compress.judge import Judge
from edged.model import reference
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Pair
from edged.model.onnx_reader import graph_of
from edged.model.passes import simplify
from edged.quantization.calibration import Calibration, Quantizer
from edged.quantization.noise import LayerNoise, layer_noise, worst

COMPARED = 4  # pictures on which layers are compared: the reference is slow
MOST_IN_FLOATS = 16  # layers; a network that needs more is not worth it


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantized file, its accuracy, the noise of its layers, and the layers that stayed in floats."""

    content: bytes
    accuracy: float
    layers: tuple[LayerNoise, ...]
    in_floats: tuple[str, ...] = ()


def quantize(
    file: OnnxFile,
    size: Pair,
    calibration: Calibration,
    judge: Judge,
    max_loss: float,
    show: Callable[[str], None],
) -> Quantized:
    """Return the first file that loses at most `max_loss`: with 0, 1, 2, 4 … layers in floats, the worst ones.

    If none does, the one that loses least. `max_loss`: a share of the judged pictures. Raises ModelError.
    """
    quantizer = Quantizer(file, calibration)
    trial = _Trial(quantizer, size, calibration, judge)
    try:
        best = trial.run(())
        count = 1
        while judge.accuracy - best.accuracy > max_loss and count <= MOST_IN_FLOATS:
            names = {each.layer for each in worst(best.layers, count)}
            show(
                f"{100 * (judge.accuracy - best.accuracy):.2f} points are lost: {len(names)} layers stay in floats"
            )
            best = max(best, trial.run(tuple(sorted(names))), key=lambda each: each.accuracy)
            count *= 2
    finally:
        quantizer.close()
    return best


@dataclass(frozen=True, eq=False)
class _Trial:
    """Quantizes a network, and measures it."""

    quantizer: Quantizer
    size: Pair
    calibration: Calibration
    judge: Judge

    def run(self, in_floats: tuple[str, ...]) -> Quantized:
        """Leave the layers that write these tensors in floats. Raises ModelError."""
        floats = self.quantizer.float_file
        nodes = [node.name for node in floats.model.graph.node if set(node.output) & set(in_floats)]
        file = self.quantizer.quantize(nodes)
        graph = graph_of(file, self.size)
        accuracy = self.judge.measure(file.sha256, lambda: simplify(graph)).accuracy
        x = reference.prepare(self.calibration.pictures[:COMPARED], self.calibration.wanted)
        layers = layer_noise(graph_of(floats, self.size), graph, x)
        return Quantized(file.path.read_bytes(), accuracy, layers, in_floats)
