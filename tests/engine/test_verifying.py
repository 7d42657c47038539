"""Every layer of a network on a device, compared with the reference on pictures."""

from pathlib import Path

import numpy as np
import pytest

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.selection import Rules
from edged.engine.verifying import Verification
from edged.model import reference
from edged.model.graph import Conv, Graph
from edged.model.model_part import ModelPart
from tests.engine.networks import RGB, random_images, small_network
from tests.engine.wrong_kernels import MAX_IS_MIN, WRONG_DENSE, WRONG_DENSE_SPLIT, wrong_kernel


def verified(
    device: Device,
    programs: Path,
    *,
    pictures: int = 3,
    batch: int = 2,
    precision: Precision = "fp32",
    graph: Graph | None = None,
) -> Verification:
    """A network, by default one with every operator, on random images."""
    network = graph or small_network()
    part = ModelPart(network, RGB)
    found = Verification(part, device, precision=precision, chooser=Rules(), batch=batch, cache=programs)
    images = random_images(RGB, pictures)
    try:
        scores = np.concatenate(list(found.compare(images)))
    finally:
        found.close()
    assert scores.shape == (pictures, 11)
    if found.is_trusted:
        expected = reference.run(network, reference.prepare(images, RGB))
        np.testing.assert_allclose(scores, expected, atol=3e-2)
    return found


@pytest.mark.deep
@pytest.mark.parametrize(("batch", "precision", "error"), [(2, "fp32", 1e-5), (1, "fp16", 1e-2)])
def test_a_device_that_is_right_is_trusted(
    network_device: Device, programs_directory: Path, batch: int, precision: Precision, error: float
) -> None:
    found = verified(network_device, programs_directory, batch=batch, precision=precision)

    assert found.is_trusted
    assert (found.first_wrong, found.pictures) == (None, 3)
    assert 0 < found.scores_error < 3 * error
    assert [layer.layer for layer in found.layers] == [
        "pictures", "stem", "pool", "up", "down", "side", "sum", "relu", "mean", "flat", "dense", "softmax",
    ]  # fmt: skip
    assert all(layer.compared and layer.own < error for layer in found.layers)
    assert max(layer.total for layer in found.layers) > max(layer.own for layer in found.layers) / 10


@pytest.mark.deep
def test_an_error_is_found_where_it_begins(network_device: Device, programs_directory: Path) -> None:
    with wrong_kernel(MAX_IS_MIN):
        found = verified(network_device, programs_directory, pictures=1, batch=1)

    assert not found.is_trusted
    assert found.first_wrong
    assert (found.first_wrong.layer, found.first_wrong.variant) == ("pool", "max_pool")
    errors = {layer.layer: layer for layer in found.layers}
    assert errors["stem"].total < 1e-5
    assert errors["up"].is_right  # for its own inputs
    assert errors["up"].total > 1e-3


@pytest.mark.deep
def test_a_wrong_layer_counts_though_the_scores_may_be_close(
    network_device: Device, programs_directory: Path
) -> None:
    with wrong_kernel(WRONG_DENSE, WRONG_DENSE_SPLIT):
        found = verified(network_device, programs_directory, pictures=1, batch=1)

    assert [layer.layer for layer in found.layers if not layer.is_right] == ["dense"]


@pytest.mark.deep
def test_pictures_that_are_prepared_wrongly_are_the_first_error(
    network_device: Device, programs_directory: Path
) -> None:
    with wrong_kernel(("prepare", "* normalize[c] +", "* normalize[c] -")):
        found = verified(network_device, programs_directory, pictures=1, batch=1)

    assert found.first_wrong is found.layers[0]


@pytest.mark.deep
def test_values_beyond_a_half_are_shown_where_they_begin(network_device: Device, programs_directory: Path) -> None:
    graph = small_network()
    up = next(operator for operator in graph.operators if operator.name == "up")
    assert isinstance(up, Conv)
    up.bias[3] = 1e5

    found = verified(network_device, programs_directory, pictures=1, batch=1, precision="fp16", graph=graph)

    errors = {layer.layer: layer for layer in found.layers}
    assert errors["pool"].total < 1e-2
    assert (errors["up"].total, errors["up"].compared) == (float("inf"), False)
    assert not found.is_trusted
