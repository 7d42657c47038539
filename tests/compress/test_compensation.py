"""Rounding errors that other weights make up for."""

from pathlib import Path

import numpy as np
import onnx

from edged import config
from edged.compress.calibration import second_moments
from edged.compress.codebook import AT_ONCE, DAMPING, compensated, rounded_rows, share
from edged.compress.weights import weights_of
from edged.model.model_part import ModelPart
from edged.model.package import load_model
from tests.compress.networks import network

RANDOM = np.random.default_rng(5)
WEIGHT = RANDOM.normal(size=(8, 24)).astype(np.float32)
INPUTS = RANDOM.normal(size=(500, 6)) @ RANDOM.normal(size=(6, 24)) + 0.1 * RANDOM.normal(size=(500, 24))
MOMENTS = INPUTS.T @ INPUTS / len(INPUTS)


def test_outputs_have_smaller_errors_than_with_the_nearest_entries() -> None:
    nearest = share(WEIGHT, 8)

    found = compensated(WEIGHT, nearest, MOMENTS)

    def error(values: np.ndarray) -> float:
        return float(np.square(INPUTS @ (values - WEIGHT).T).mean())

    assert error(found.values) < error(nearest.values) / 2
    assert set(found.entries) <= set(nearest.entries)


def test_each_weight_makes_up_for_the_errors_of_those_before_it_as_well_as_it_can() -> None:
    count = 2 * AT_ONCE + 3
    inputs = RANDOM.normal(size=(400, count)) @ RANDOM.normal(size=(count, count))
    moments = inputs.T @ inputs / len(inputs)
    rows = RANDOM.normal(size=(3, count)).astype(np.float32)
    rows[0, ::7] = 0

    found = rounded_rows(rows, moments, np.rint)

    damped = moments + DAMPING * np.diag(moments).mean() * np.eye(count)
    order = np.argsort(-np.diag(moments), kind="stable")
    expected, targets = np.zeros((3, count)), rows.astype(np.float64)
    for place, column in enumerate(order):
        expected[:, column] = np.where(rows[:, column] == 0, 0, np.rint(targets[:, column]))
        done, left = order[: place + 1], order[place + 1 :]
        errors = rows[:, done] - expected[:, done]
        targets[:, left] = (
            rows[:, left] + np.linalg.solve(damped[np.ix_(left, left)], damped[np.ix_(left, done)] @ errors.T).T
        )
    assert np.array_equal(found, expected)


def test_pruned_weights_stay_zero() -> None:
    weight = np.where(np.abs(WEIGHT) < 0.7, 0, WEIGHT).astype(np.float32)

    found = compensated(weight, share(weight, 8), MOMENTS)

    assert (found.values[weight == 0] == 0).all()


def test_moments_are_those_of_what_the_weights_multiply(tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx")
    model, graph = onnx.load(str(path)), load_model(config.ModelConfig(path=path)).graph
    weights, model_input = weights_of(model, "net"), load_model(config.ModelConfig(path=path)).input
    frames = RANDOM.integers(0, 256, (4, 16, 16, 3)).astype(np.uint8)

    found = second_moments(model, weights, graph, model_input, frames)

    rows = weights["second"].reshape(32, -1).astype(np.float64)  # of a layer without bias and activation
    outputs = ModelPart(graph, model_input).tensors(frames)["c"]
    assert found.keys() == weights.keys()
    assert np.allclose(np.einsum("ri,ij,rj->r", rows, found["second"], rows), (outputs**2).mean(axis=(0, 2, 3)))
