"""Resize and Upsample: sizes and pixels as onnxruntime's kernel has them, which computes in float32."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_network, read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error

# Sides and what an exporter's scale size_out ÷ size_in is meant to make of them: float64 makes a pixel less of it.
LOST_BY_FLOAT64 = [(5, 7), (10, 7), (15, 21), (20, 7), (7, 18)]
NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
PLACES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


def resized(scales: list[Any], shape: list[int], opset: int = 17, **attributes: Any) -> Network:
    network = Network(shape, opset=opset)
    names = [network.weight(np.array(scales, np.float32))]
    network.add("Resize" if opset > 9 else "Upsample", *([""] if opset > 10 else []), *names, **attributes)
    return network


def pixels(shape: list[int]) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def assert_equals_onnxruntime(network: Network, path: Path, *, kernels: bool = True) -> None:
    network.add("Flatten", axis=1)
    graph = simplify(read_onnx(network.save(path)))
    x = pixels([int(size) for size in network.shape])

    expected = onnxruntime_outputs(path, x)
    found = reference.run(graph, x)

    assert found.shape == expected.shape
    assert relative_error(found, expected) < 1e-5
    assert kernels != any(isinstance(operator, OnHost) for operator in graph.operators)


@pytest.mark.parametrize(("size_in", "size_out"), LOST_BY_FLOAT64)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_scale_of_wanted_by_given_pixels_makes_the_wanted_ones(
    tmp_path: Path, mode: str, size_in: int, size_out: int
) -> None:
    network = resized([1, 1, size_out / size_in, size_out / size_in], [1, 2, size_in, size_in], mode=mode)
    network.add("Flatten")

    graph = read_onnx(network.save(tmp_path / "net.onnx"))

    assert graph.shapes[graph.output] == (2 * size_out**2,)


def test_a_declared_size_that_the_framework_wrote_is_no_contradiction(tmp_path: Path) -> None:
    network = resized([1, 1, 7 / 5, 7 / 5], [1, 2, 5, 5])
    between = helper.make_tensor_value_info(network.tensor, TensorProto.FLOAT, [1, 2, 7, 7])
    network.add("Flatten")
    model = network.model()
    model.graph.value_info.append(between)
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())

    contradictions = read_network(read_file(path)).contradictions

    assert contradictions == ()


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("nearest", NEAREST)
def test_nearest_pixels_are_those_of_float32(tmp_path: Path, places: str, nearest: str) -> None:
    for size_in, size_out in [(7, 2), (9, 12), (24, 69), (7, 38), *LOST_BY_FLOAT64]:
        network = resized(
            [1, 1, size_out / size_in, 1.31],
            [1, 1, size_in, 10],
            coordinate_transformation_mode=places,
            nearest_mode=nearest,
        )

        assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(
    "attributes", [{"mode": "linear"}, {"mode": "cubic"}, {"mode": "cubic", "exclude_outside": 1}]
)
def test_sums_of_pixels_of_sizes_that_are_not_whole(
    tmp_path: Path, places: str, attributes: dict[str, Any]
) -> None:
    network = resized([1, 1, 0.77, 2.3], [1, 2, 9, 11], coordinate_transformation_mode=places, **attributes)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize(("opset", "scale"), [(9, 1.7), (10, 1.7), (10, 0.6)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_the_forms_before_operator_set_11(tmp_path: Path, mode: str, opset: int, scale: float) -> None:
    network = resized([1, 1, scale, 1.4], [1, 2, 15, 15], opset, mode=mode)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_region_with_a_filler_beyond_it(tmp_path: Path, mode: str) -> None:
    network = Network([1, 2, 9, 11])
    region = network.weight(np.array([0, 0, -0.2, 0.3, 1, 1, 0.9, 1.2], np.float32))
    network.add(
        *("Resize", region, network.weight(np.array([1, 1, 1.4, 0.8], np.float32))),
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=7.5,
    )

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_sizes_that_keep_the_ratio_of_the_sides(tmp_path: Path, policy: str) -> None:
    network = Network([1, 2, 9, 11], opset=19)
    sizes = network.weight(np.array([14, 12]))
    network.add("Resize", "", "", sizes, mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("scales", [[1, 1.4, 1.4, 1], [1, 1, 1.4, 1], [1, 1, 1, 2], [1, 2, 1.5, 1.4]])
def test_any_axes_of_a_frame_have_kernels(tmp_path: Path, scales: list[float]) -> None:
    assert_equals_onnxruntime(resized(scales, [1, 5, 15, 4]), tmp_path / "net.onnx")


@pytest.mark.parametrize(("size_in", "size_out"), [(9, 12), (5, 7)])
def test_nearest_pixels_of_integers_are_the_same(tmp_path: Path, size_in: int, size_out: int) -> None:
    network = Network([1, 2, size_in, size_in])
    network.add(
        "QuantizeLinear", network.weight(np.array(0.02, np.float32)), network.weight(np.array(100, np.uint8))
    )
    scales = network.weight(np.array([1, 1, size_out / size_in, size_out / size_in], np.float32))
    network.add("Resize", "", scales, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    network.add("Cast", to=TensorProto.FLOAT)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


def test_the_same_size_changes_nothing_whatever_the_scale(tmp_path: Path) -> None:
    assert_equals_onnxruntime(resized([1, 1, 1.05, 1.05], [1, 2, 9, 9], mode="linear"), tmp_path / "net.onnx")


def test_the_host_makes_the_same_sizes(tmp_path: Path) -> None:
    network = resized([1, 1, 7 / 10, 7 / 10], [1, 2, 10, 10], 18, mode="linear", antialias=1)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx", kernels=False)


@pytest.mark.parametrize(
    ("scales", "opset", "problem"),
    [
        ([1, 1, 0.5, 2], 9, r"has the scales .* expected numbers of 1 or more"),
        ([1, 1, -1, 2], 17, r"expected numbers above 0"),
        ([1, 1, np.inf, 2], 17, r"expected numbers above 0"),
        ([1, 1, 2], 17, "has 3 scales or sizes for 4 axes"),
        ([1, 1, 0.01, 0.01], 17, r"would write a tensor of shape \(2, 0, 0\)"),
    ],
)
def test_scales_that_make_no_image_are_rejected(
    tmp_path: Path, scales: list[float], opset: int, problem: str
) -> None:
    network = resized(scales, [1, 2, 9, 9], opset)

    with pytest.raises(ModelError, match=problem):
        read_onnx(network.save(tmp_path / "net.onnx"))
