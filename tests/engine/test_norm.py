"""A batch norm that is trained, forward and backward."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.gradients.norm import batch_statistics, norm_forward, norm_gradient, norm_use
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Argument, Resident
from edged.engine.layout import Halo, Tensor
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.activations import LINEAR, RELU
from edged.train.training_operators import TrainedNorm, new_norm
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random
from tests.train.reference.backward import backward, forward, running, statistics

Array = NDArray[Any]


def a_norm(channels: int, *, relu: bool = False) -> TrainedNorm:
    mean, variance = random(channels), abs(random(channels)) + 0.5
    norm = replace(
        new_norm("norm", "x", "y", channels),
        mean=mean,
        variance=variance,
        momentum=0.25,
        activation=RELU if relu else LINEAR,
    )
    return replace(norm, scale=random(channels), offset=random(channels))


class Place:
    """A norm on the bench, reading images [frames, channels, height, width]."""

    def __init__(self, lab: Lab, norm: TrainedNorm, x: Array, block: int, *, in_use: bool = False) -> None:
        frames, channels, height, width = x.shape
        self.source = Tensor("x", frames, channels, height, width, block, Halo(0, 1, 1, 0))
        self.target = replace(self.source, name="y", halo=Halo(1, 1, 2, 0))
        self.channels, padded = channels, self.source.blocks * block
        names = ("scale", "offset", "mean", "variance")
        self.arrays = {name: Resident(name, padded * 4) for name in names}
        given: dict[Argument, Array] = {self.source: x}
        for name, array in self.arrays.items():
            given[array] = np.pad(getattr(norm, name), (0, padded - channels))
        site = Site(norm, (self.source,), self.target, lab.device)
        launches = (norm_use if in_use else norm_forward)(site, self.arrays, self.arrays)
        self.bench = Bench(lab, launches, given)

    def values(self, name: str) -> Array:
        return self.bench.floats(self.arrays[name])[: self.channels]


@pytest.mark.parametrize(("shape", "block"), [((3, 21, 5, 37), 4), ((2, 21, 7, 6), 16), ((1, 18, 1, 50), 16)])
def test_a_batch_is_normalised_by_its_own_statistics_and_the_running_ones_follow(
    lab: Lab, shape: tuple[int, ...], block: int
) -> None:
    norm, x = a_norm(shape[1], relu=block == 4), random(*shape) * 3 + 2
    place = Place(lab, norm, x, block)

    place.bench.run()

    exact = x.astype(np.float64)
    assert_close(place.bench.image(place.target), forward(norm, exact))
    for tensor, expected in zip(batch_statistics("norm", place.source), statistics(exact), strict=True):
        assert_close(place.bench.image(tensor).reshape(-1)[: shape[1]], expected)
    for name, expected in zip(("mean", "variance"), running(norm, exact), strict=True):
        assert_close(place.values(name), expected)


def test_in_use_the_running_statistics_count(lab: Lab) -> None:
    norm, x = a_norm(21), random(3, 21, 5, 7)
    place = Place(lab, norm, x, 4, in_use=True)

    place.bench.run()

    assert_close(place.bench.image(place.target), reference.compute(norm, x.astype(np.float64)))


def test_values_far_from_zero_keep_their_small_variance(lab: Lab) -> None:
    x = random(4, 5, 6, 7) + 4096
    place = Place(lab, a_norm(5), x, 4)

    place.bench.run()

    _, variance = batch_statistics("norm", place.source)
    found = place.bench.image(variance).reshape(-1)[:5]
    np.testing.assert_allclose(found, statistics(x.astype(np.float64))[1], rtol=1e-3)


@pytest.mark.parametrize("shape", [(1, 5, 1, 1), (2, 5, 3, 4)], ids=["one pixel", "all equal"])
def test_values_that_do_not_vary_leave_the_offset(lab: Lab, shape: tuple[int, ...]) -> None:
    norm, x = a_norm(5), np.full(shape, 3.5, np.float32)
    place = Place(lab, norm, x, 4)

    place.bench.run()

    expected = np.broadcast_to(norm.offset[:, None, None], shape)
    assert_close(place.bench.image(place.target), expected)
    assert_close(place.values("variance"), 0.75 * norm.variance)


def slope_of(lab: Lab, norm: TrainedNorm, x: NDArray[Any], block: int) -> Slope[TrainedNorm]:
    frames, channels, height, width = x.shape
    source = Tensor("x", frames, channels, height, width, block, Halo(0, 1, 1, 0))
    given, input_gradient = (replace(source, name=name, halo=Halo(1, 0, 0, 1)) for name in ("given", "wanted"))
    nbytes = source.blocks * block * 4
    sums = {name: Resident(f"{name} gradient", nbytes) for name in ("scale", "offset")}
    own = {name: Resident(name, nbytes) for name in ("scale", "offset")}
    output = replace(source, name="y")
    return Slope(norm, source, output, given, input_gradient, lab.device, parameters=own, gradients=sums)


@pytest.mark.parametrize(
    ("shape", "block", "masked"),
    [((3, 21, 5, 37), 4, False), ((2, 21, 7, 6), 16, True), ((1, 18, 1, 50), 16, False)],
)
def test_gradients_are_those_of_the_reference(lab: Lab, shape: tuple[int, ...], block: int, masked: bool) -> None:
    norm = replace(new_norm("norm", "x", "y", shape[1]), scale=random(shape[1]))
    x, gradient, others = random(*shape) * 3 + 2, random(*shape), random(*shape)
    x = np.maximum(x, 0) if masked else x
    slope = slope_of(lab, norm, x, block)
    exact, padding = x.astype(np.float64), slope.source.blocks * block - shape[1]
    given: dict[Argument, NDArray[Any]] = {slope.source: x, slope.output_gradient: gradient}
    if masked:
        slope = replace(slope, source_activation=RELU, plus=replace(slope.source, name="others"))
        given[replace(slope.source, name="others")] = others
    for tensor, values in zip(batch_statistics("norm", slope.source), statistics(exact), strict=True):
        given[tensor] = np.pad(values, (0, padding)).reshape(1, -1, 1, 1)
    given[slope.parameters["scale"]] = np.pad(norm.scale, (0, padding))
    bench = Bench(lab, norm_gradient(slope), given)

    bench.run()

    expected = backward(norm, gradient.astype(np.float64), forward(norm, exact), exact)
    for name in ("scale", "offset"):
        assert_close(bench.floats(slope.gradients[name])[: shape[1]], expected.arrays[name])
        assert not bench.floats(slope.gradients[name])[shape[1] :].any()
    expected_gradient = (expected.inputs[0] + others * masked) * ((x > 0) | (not masked))
    assert slope.input_gradient
    assert_close(bench.image(slope.input_gradient), expected_gradient)
