"""Every ResNet, however it was exported, gives what onnxruntime gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import AveragePool, Conv, Dense, Flatten, MaxPool
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error, resnet

TOLERANCE = 1e-5


def assert_equals_onnxruntime(network: Network, path: Path, width: int, height: int, batch: int = 2) -> None:
    network.save(path)
    x = np.random.default_rng(1).standard_normal((batch, 3, height, width)).astype(np.float32)

    graph = read_onnx(path, (width, height))

    expected = onnxruntime_outputs(path, x)
    assert relative_error(reference.run(graph, x), expected) < TOLERANCE
    assert relative_error(reference.run(simplify(graph), x), expected) < TOLERANCE


@pytest.mark.deep
def test_a_full_resnet18_of_64_by_48(tmp_path: Path) -> None:
    assert_equals_onnxruntime(resnet(18, 64, 48), tmp_path / "resnet18.onnx", 64, 48)


@pytest.mark.deep
def test_a_full_resnet50_with_batch_norm(tmp_path: Path) -> None:
    assert_equals_onnxruntime(resnet(50, 64, 64), tmp_path / "resnet50.onnx", 64, 64, batch=1)


@pytest.mark.parametrize("depth", [18, 34, 50, 101, 152])
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("version", ["v1", "v1.5"])
def test_every_depth_version_and_batch_norm(tmp_path: Path, depth: int, batch_norm: bool, version: Any) -> None:
    network = resnet(depth, 48, 32, batch_norm=batch_norm, version=version, base=8, classes=10)

    assert_equals_onnxruntime(network, tmp_path / "resnet.onnx", 48, 32)


@pytest.mark.parametrize("head", ["flatten", "reshape", "shape_of", "reduce_mean", "squeeze", "conv"])
def test_every_way_to_leave_the_last_pool(tmp_path: Path, head: Any) -> None:
    assert_equals_onnxruntime(resnet(18, 40, 40, base=8, head=head), tmp_path / "resnet.onnx", 40, 40)


@pytest.mark.parametrize(("width", "height"), [(32, 32), (33, 47), (120, 120), (225, 31)])
def test_any_size_in_a_file_that_leaves_it_open(tmp_path: Path, width: int, height: int) -> None:
    network = resnet(18, "W", "H", base=8, classes=10)

    assert_equals_onnxruntime(network, tmp_path / "resnet.onnx", width, height)


def test_a_batch_that_the_file_fixes(tmp_path: Path) -> None:
    assert_equals_onnxruntime(resnet(18, batch=1, base=8, classes=10), tmp_path / "r.onnx", 64, 64, batch=1)


@pytest.mark.parametrize("opset", [13, 17, 18, 21])
def test_operator_sets(tmp_path: Path, opset: int) -> None:
    assert_equals_onnxruntime(resnet(18, base=8, classes=10, opset=opset), tmp_path / "r.onnx", 64, 64)


def test_only_what_a_device_has_to_know_is_left(tmp_path: Path) -> None:
    path = resnet(50, 64, 64, base=8).save(tmp_path / "resnet50.onnx")

    graph = simplify(read_onnx(path))

    kinds = [type(operator) for operator in graph.operators]
    assert kinds.count(Conv) == 53
    assert kinds[:2] == [Conv, MaxPool]
    assert kinds[-3:] == [AveragePool, Flatten, Dense]
    assert len(kinds) == 53 + 4


@pytest.mark.parametrize("name", ["resnet20_cifar10", "resnet56_cifar10", "resnet8_mlperf_tiny"])
def test_trained_networks(shared_data: Path, name: str) -> None:
    path = shared_data / "models" / f"{name}.onnx"
    x = np.random.default_rng(2).uniform(-2, 2, (4, 3, 32, 32)).astype(np.float32)

    graph = simplify(read_onnx(path, (32, 32)))

    expected = onnxruntime_outputs(path, x)
    got = reference.run(graph, x)
    assert relative_error(got, expected) < TOLERANCE
    assert (got.argmax(1) == expected.argmax(1)).all()


def test_a_trained_network_at_another_size(shared_data: Path) -> None:
    path = shared_data / "models" / "resnet20_cifar10.onnx"
    x = np.random.default_rng(3).uniform(-2, 2, (2, 3, 45, 61)).astype(np.float32)

    graph = simplify(read_onnx(path, (61, 45)))

    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < TOLERANCE
