"""Every kernel of well-known networks on the boards' GPUs: what is chosen without tuning compiles and fits."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edged.config import ModelConfig, Precision
from edged.model.package import Model, load_model
from tools.mali.gpus import GPUS, MIDGARD
from tools.mali.launches import CompiledLaunch, compiled_for
from tools.mali.report import findings
from tools.mali.root import Root

pytestmark = pytest.mark.deep

OF_BOARDS = ("t620", "g52", "g610")  # T860 gets the code of T620, as the last test shows
# On Midgard these may leave room for one set of work-items of four: their tiles use what they load several
# times; and `average_pool`, the last pool of a network, and `softmax` have few work-items. All others
# leave room for half of the most that there may be; on Bifrost and Valhall one of two is half.
OF_FEW_ITEMS = {"average_pool", "softmax"}
OF_EIGHT_HALVES = {"activate"}  # the sigmoid of outputs: 0.4 % of YOLOX-nano's cycles
MAY_BE_ALONE = {*OF_FEW_ITEMS, "conv_general", "conv_depthwise", "conv_frequencies", "conv_frequencies_input"}
SIZES = {"resnet50": 120, "resnet18": 224, "mobilenetv2": 224, "squeezenet1_1": 224, "digits": None}


def named(network: str) -> Model:
    return load_model(ModelConfig(name=network, size=SIZES[network]))


def findings_of(root: Root, model: Model, precision: Precision, gpus: Sequence[str]) -> dict[str, list[str]]:
    """What is wrong with the kernels of a network, by the name of the GPU; two GPUs at once."""

    may_be_alone = MAY_BE_ALONE | (OF_EIGHT_HALVES if precision == "fp16" else set())

    def of(gpu: str) -> list[str]:
        launches = compiled_for(model, GPUS[gpu], precision, root)
        alone = {each.launch.kernel for each in launches if GPUS[gpu].architecture is MIDGARD and is_alone(each)}
        return findings(launches) + [f"alone on a core: {kernel}" for kernel in sorted(alone - may_be_alone)]

    with ThreadPoolExecutor(2) as pool:
        return {gpu: found for gpu, found in zip(gpus, pool.map(of, gpus), strict=True) if found}


def is_alone(each: CompiledLaunch) -> bool:
    """Whether the registers leave room for one set of work-items at a time."""
    return each.compiled.statistics is not None and each.compiled.statistics.threads < 2


@pytest.mark.parametrize("network", SIZES)
def test_each_kernel_compiles_spills_nothing_and_fits_its_group(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp32", OF_BOARDS) == {}


@pytest.mark.parametrize("network", SIZES)
def test_so_does_each_kernel_of_halves(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp16", OF_BOARDS) == {}


@pytest.mark.parametrize("network", SIZES)
def test_so_does_each_kernel_whose_weights_are_halves(root: Root, network: str) -> None:
    assert findings_of(root, named(network), "fp16-weights", OF_BOARDS) == {}


@pytest.mark.parametrize("precision", ["fp32", "fp16", "fp16-weights"])
def test_so_does_each_kernel_of_a_detector(root: Root, shared_data: Path, precision: Precision) -> None:
    detector = load_model(ModelConfig(path=shared_data / "detection/yolox_nano.onnx"))

    assert findings_of(root, detector, precision, OF_BOARDS) == {}


def test_the_same_code_is_made_for_t620_and_t860(root: Root) -> None:
    model = named("digits")

    first, second = (compiled_for(model, GPUS[gpu], "fp32", root) for gpu in ("t620", "t860"))

    assert [each.compiled for each in first] == [each.compiled for each in second]
