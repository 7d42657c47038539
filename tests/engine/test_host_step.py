"""Operators that the host computes between kernels: in any place of a plan, for each frame of a batch."""

from pathlib import Path

import numpy as np
import pytest

from edged.config import ModelConfig, Precision
from edged.engine.agreement import Agreement
from edged.engine.device import Device
from edged.engine.planner import RULES
from edged.engine.runtime import Runtime
from edged.errors import ModelError
from edged.model import reference
from edged.model.graph import OnHost
from edged.model.model_part import ModelPart
from edged.model.package import Model, load_model
from tests.engine.lab import assert_close
from tests.model.onnx_files import Network


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Convolution, sines on the host, convolution, scores of unit length on the host."""
    network = Network(["N", 3, 12, 10])
    network.add("Conv", network.normal(6, 3, 3, 3, std=0.2))
    network.add("Sin")
    network.add("Conv", network.normal(5, 6, 3, 3, std=0.2))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("LpNormalization", axis=1)
    return network.save(tmp_path / "network.onnx")


@pytest.fixture
def model(path: Path) -> Model:
    return load_model(ModelConfig(path=path))


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (3, 12, 10, 3), np.uint8)


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("fp16", 2e-2)])
def test_each_frame_of_a_batch_is_as_the_reference_computes_it(
    network_device: Device,
    programs_directory: Path,
    model: Model,
    images: np.ndarray,
    precision: Precision,
    tolerance: float,
) -> None:
    runtime = Runtime(
        ModelPart(model.graph, model.input), network_device, batch=3, precision=precision, cache=programs_directory
    )

    expected = reference.run(model.graph, reference.prepare(images, model.input))
    for frames in (3, 2, 1):
        result = runtime.submit(images[:frames]).wait()
        assert np.abs(result.outputs - expected[:frames]).max() < tolerance * np.ptp(expected)
        on_host = [kernel for kernel in result.kernels if kernel.kernel == "on_host"]
        assert [kernel.operator for kernel in on_host] == ["sin_1", "lpnormalization_5"]
        assert all(kernel.seconds > 0 for kernel in on_host)


def test_between_two_launches_it_is_the_same(
    network_device: Device, programs_directory: Path, model: Model, images: np.ndarray
) -> None:
    if network_device.kind != "cpu":
        pytest.skip("networks are composed for CPUs alone")
    runtime = Runtime(ModelPart(model.graph, model.input), network_device, batch=3, cache=programs_directory)
    by_layer = runtime.submit(images).wait()

    assert runtime.compose()
    results = [runtime.submit(images).wait() for _ in range(2)]  # both forms in turn

    assert len({len(result.launched) for result in results}) == 2
    assert all(np.array_equal(result.outputs, by_layer.outputs) for result in results)


def test_layer_by_layer_it_is_the_same(
    network_device: Device, programs_directory: Path, model: Model, images: np.ndarray
) -> None:
    part = ModelPart(model.graph, model.input)
    runtime = Runtime(part, network_device, cache=programs_directory)
    written = Agreement(part, network_device, batch=1, precision="fp32", chooser=RULES).written

    _, tensors = runtime.observe(images[:1], written, last=1)

    expected = reference.run_all(model.graph, reference.prepare(images[:1], model.input))
    for name, found in tensors.items():
        assert_close(found.reshape(expected[name].shape), expected[name])
    assert "sin_1" in tensors


def test_a_second_start_knows_the_operators_without_the_file(path: Path, model: Model) -> None:
    again = load_model(ModelConfig(path=path))

    kept, fresh = (
        [operator for operator in each.graph.operators if isinstance(operator, OnHost)] for each in (again, model)
    )
    assert [vars(operator) for operator in kept] == [vars(operator) for operator in fresh]


def test_strict_rejects_what_no_kernel_computes(path: Path) -> None:
    with pytest.raises(ModelError, match=r"no kernel computes sin_1 \(Sin\), .* and strict is set"):
        load_model(ModelConfig(path=path, strict=True))
