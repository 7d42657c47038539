"""What is computed: a network, its images, and the scores that are right."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.onnx_export import export
from edged import config
from edged.model import reference
from edged.model.cost import macs
from edged.model.from_onnx.file import read_file
from edged.model.graph import Conv, Dense, Float32, Graph
from edged.model.package import Input, load_model
from edged.model.reference import Array
from edged.quantization.calibration import Calibration, Quantizer
from edged.system.files import write_result

IN_README = ("resnet50@120", "vgg16@224", "mobilenetv2@224", "mobilenetv3_large@224")  # of one day and machine
CASES = (
    *IN_README,
    "resnet18@224",
    "digits",
    "shufflenetv2@224",
    "efficientnet_lite0@224",
    "squeezenet1_1@224",
    "googlenet@224",
    "densenet121@224",
    "alexnet@224",
    "resnet34@224",
    "resnet50@224",
    "resnet101@224",
    "resnet50@120x8",
)


QUANTIZED = Path("build/peers/quantized")
Run = Callable[[], Array]  # scores [batch, classes]; NaN where a contender has none


@dataclass(frozen=True, eq=False)
class Case:
    """`images` are uint8 [batch, height, width, 3]; `network` is simplified, its weights random or from a file.

    name: as given. file: what the peers read, for a case that is a file, whose input has its channels first.
    """

    name: str
    network: Graph
    model_input: Input
    images: NDArray[np.uint8]
    file: Path | None = None

    @property
    def batch(self) -> int:
        """Frames of a job."""
        return len(self.images)

    @cached_property
    def x(self) -> Float32:
        """What the peers are given: the images prepared, float32 [batch, 3, height, width]."""
        return reference.prepare(self.images, self.model_input)

    @cached_property
    def onnx(self) -> bytes:
        """The network as an ONNX file for this batch."""
        if self.file is not None:
            return self.file.read_bytes()
        return export(self.network, self.batch)

    @cached_property
    def quantized(self) -> Path:
        """The same with 8 bits, in QDQ form, by onnxruntime's tools; kept, since that takes long."""
        path = QUANTIZED / f"{Path(self.name).stem}-{sha256(self.onnx).hexdigest()[:12]}.onnx"
        if not path.exists():
            QUANTIZED.mkdir(parents=True, exist_ok=True)
            floats = path.with_suffix(".floats")
            floats.write_bytes(self.onnx)
            quantizer = Quantizer(read_file(floats), Calibration(self.model_input, self.images, "minmax"))
            write_result(path, quantizer.quantize().path.read_bytes())
            quantizer.close()
        return path

    @cached_property
    def truth(self) -> Array:
        """Scores by the NumPy reference in float64, [batch, classes]."""
        return reference.run(self.network, self.x, np.float64)

    @property
    def flops(self) -> int:
        """Floating-point operations of a job, two a multiply-accumulate."""
        return 2 * macs(self.network) * self.batch

    @property
    def weight_bytes(self) -> int:
        """All weights and biases in float32: what a job must read from memory at least."""
        layers = [operator for operator in self.network.operators if isinstance(operator, Conv | Dense)]
        return sum(layer.weight.nbytes + layer.bias.nbytes for layer in layers)

    def error(self, scores: Array) -> float:
        """The largest difference from the truth, as a share of the truth's range."""
        return float(np.abs(scores.reshape(self.truth.shape) - self.truth).max() / np.ptp(self.truth))


def load_case(name: str) -> Case:
    """A case by its name: resnet50@120, digits, resnet50@120x8, FILE.onnx. Raises ValueError, ModelError."""
    settings, batch = parse_case(name)
    model = load_model(settings)
    shape = (batch, model.input.height, model.input.width, 3)
    images = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    return Case(name, model.graph, model.input, images, settings.path)


def parse_case(name: str) -> tuple[config.ModelConfig, int]:
    """The model that a case's name asks for, and the frames of a job, of a file one. Raises ValueError."""
    if name.endswith(".onnx"):
        return config.ModelConfig(path=Path(name)), 1
    found = re.fullmatch(r"([a-z]+\d*(?:_[a-z0-9]+)?)(?:@(\d+))?(?:x([1-9]\d*))?", name)
    if found is None:
        raise ValueError(
            f"{name!r} is no case; expected MODEL[@SIZE][xBATCH], for example resnet50@120x8, or FILE.onnx"
        )
    model, size, batch = found.groups()
    return config.ModelConfig(name=model, size=int(size) if size else None), int(batch or 1)
