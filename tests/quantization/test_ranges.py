"""The range of a tensor by the least mean square error."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from edged.quantization.ranges import BINS, least_error_range, least_error_ranges
from tests.cli import models


def histogram(values: np.ndarray[tuple[int], np.dtype[np.float64]], low: float, high: float) -> np.ndarray:
    return np.histogram(values, BINS, (low, high))[0]


def test_evenly_spread_values_keep_their_whole_range() -> None:
    counts = histogram(np.linspace(-1, 3, 10_000), -1, 3)

    assert least_error_range(counts, -1, 3) == pytest.approx((-1, 3), rel=0.05)


def test_a_single_outlier_is_cut_off_for_finer_steps_of_all_others() -> None:
    values = np.append(np.abs(np.random.default_rng(1).normal(size=1_000_000)), 12.0)

    low, high = least_error_range(histogram(values, 0, 12), 0, 12)

    assert low == 0
    assert high < 7


def test_a_tensor_that_is_always_zero_has_an_empty_range() -> None:
    assert least_error_range(histogram(np.zeros(10), 0, 0), 0, 0) == (0, 0)


def test_each_tensor_of_a_network_has_its_range_and_a_relu_no_negative_values(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = onnx.load(models.small_network(tmp_path / "model.onnx"))
    (entry,) = model.graph.input
    shape = [max(dim.dim_value, 1) for dim in entry.type.tensor_type.shape.dim]
    rng = np.random.default_rng(2)
    pictures = [{entry.name: rng.uniform(-1, 1, shape).astype(np.float32)} for _ in range(3)]

    ranges = least_error_ranges(model, lambda: pictures)

    written = {name for node in model.graph.node for name in node.output}
    assert set(ranges) <= written | {entry.name}
    assert ranges[entry.name] == pytest.approx((-1, 1), rel=0.1)
    rectified = [node.output[0] for node in model.graph.node if node.op_type == "Relu"]
    assert rectified
    assert all(ranges[name][0] == 0 < ranges[name][1] for name in rectified)
