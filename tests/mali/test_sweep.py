"""Every kernel of well-known networks on the boards' GPUs: what is chosen without tuning compiles and fits."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edged.config import ModelConfig, Precision
from edged.model.package import Model, load_model
from tools.mali.__main__ import report_on
from tools.mali.gpus import GPUS
from tools.mali.report import findings
from tools.mali.root import Root

pytestmark = pytest.mark.deep

OF_BOARDS = ("t620", "t860", "g52", "g610")
OF_HALVES = ("t620", "g52", "g610")  # T860 gets the code of T620
SIZES = {"resnet50": 120, "resnet18": 224, "mobilenetv2": 224, "squeezenet1_1": 224, "digits": None}


def named(network: str) -> Model:
    return load_model(ModelConfig(name=network, size=SIZES[network]))


def findings_of(root: Root, model: Model, precision: Precision, gpus: Sequence[str]) -> dict[str, list[str]]:
    """What is wrong with the kernels of a network, by the name of the GPU; two GPUs at once."""

    def of(gpu: str) -> list[str]:
        return findings(report_on(model.name, model, GPUS[gpu], precision, root).launches)

    with ThreadPoolExecutor(2) as pool:
        return {gpu: found for gpu, found in zip(gpus, pool.map(of, gpus), strict=True) if found}


@pytest.mark.parametrize("network", SIZES)
def test_each_kernel_compiles_spills_nothing_and_fits_its_group(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp32", OF_BOARDS) == {}


@pytest.mark.parametrize("network", SIZES)
def test_so_does_each_kernel_of_halves(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp16", OF_HALVES) == {}


@pytest.mark.parametrize("network", SIZES)
def test_so_does_each_kernel_whose_weights_are_halves(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp16-weights", OF_HALVES) == {}


def test_so_does_each_kernel_of_a_detector(root: Root, shared_data: Path) -> None:
    detector = load_model(ModelConfig(path=shared_data / "detection/yolox_nano.onnx"))

    assert findings_of(root, detector, "fp32", OF_BOARDS) == {}
