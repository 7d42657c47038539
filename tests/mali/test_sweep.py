"""Every kernel of well-known networks on the boards' GPUs: what is chosen without tuning compiles and fits."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from edged.config import ModelConfig, Precision
from edged.model.package import load_model
from tools.mali.__main__ import report_on
from tools.mali.gpus import GPUS
from tools.mali.report import Report, findings
from tools.mali.root import Root

pytestmark = pytest.mark.deep

OF_BOARDS = ("t620", "t860", "g52", "g610")
OF_HALVES = ("t620", "g52", "g610")  # T860 gets the code of T620
SIZES = {"resnet50": 120, "resnet18": 224, "mobilenetv2": 224, "squeezenet1_1": 224, "digits": None}


def swept(root: Root, network: str, precision: Precision, gpus: tuple[str, ...]) -> dict[str, Report]:
    """The reports of a network on GPUs, two at once, by the GPU's name."""
    model = load_model(ModelConfig(name=network, size=SIZES[network]))
    with ThreadPoolExecutor(2) as pool:
        reports = pool.map(lambda gpu: report_on(network, model, GPUS[gpu], precision, root), gpus)
        return dict(zip(gpus, reports, strict=True))


@pytest.mark.parametrize(
    ("precision", "gpus"), [("fp32", OF_BOARDS), ("fp16", OF_HALVES), ("fp16-weights", OF_HALVES)]
)
@pytest.mark.parametrize("network", SIZES)
def test_each_kernel_compiles_spills_nothing_and_fits_its_group(
    root: Root, network: str, precision: Precision, gpus: tuple[str, ...]
) -> None:
    wrong = {gpu: findings(report.launches) for gpu, report in swept(root, network, precision, gpus).items()}

    assert not any(wrong.values()), wrong
