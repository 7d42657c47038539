"""Winograd's convolution in training: its weights are transformed on the device."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.gradients.conv_gradient import conv_gradient, halo_of_given
from edged.engine.gradients.slope import Slope
from edged.engine.gradients.winograd_weights import (
    input_gradient_site,
    is_faster,
    winograd_forward,
    winograd_gradient,
)
from edged.engine.launch import Argument, Resident
from edged.engine.layout import Halo, Tensor
from edged.engine.variants.convolution import halo_of_window, pack_bias, pack_weights
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Conv, Pads
from tests.engine.bench import Bench
from tests.engine.lab import CLOSE_BY_WINOGRAD, Lab, assert_close, random
from tests.train.reference.backward import backward

CASES = [(2, 3, 16, (1, 1, 1, 1)), (4, 2, 4, (2, 0, 1, 2))]


def a_conv(pads: Pads, *, relu: bool = False) -> Conv:
    return Conv(
        "conv", ("x",), "y", random(19, 5, 3, 3), random(19), pads=pads, activation=RELU if relu else LINEAR
    )


def tensor(name: str, x: NDArray[Any], block: int) -> Tensor:
    frames, channels, height, width = x.shape
    return Tensor(name, frames, channels, height, width, block)


@pytest.mark.parametrize(("output", "tiles", "block", "pads"), CASES)
def test_the_output_is_that_of_the_convolution(lab: Lab, output: int, tiles: int, block: int, pads: Pads) -> None:
    conv, x = a_conv(pads, relu=True), random(2, 5, 9, 7)
    expected = reference.compute(conv, x.astype(np.float64))
    bare = Site(conv, (tensor("x", x, block),), tensor("y", expected, block), lab.device)
    source = replace(bare.inputs[0], halo=halo_of_window(bare, {}))
    site = replace(bare, inputs=(source,))
    weight, bias = Resident("weight", pack_weights(site).nbytes), Resident("bias", pack_bias(site).nbytes)
    launches = winograd_forward(site, weight, bias, {"OUTPUT": output, "TILES": tiles})
    bench = Bench(lab, launches, {source: x, weight: pack_weights(site), bias: pack_bias(site)})

    bench.run()

    assert_close(bench.image(site.output), expected, CLOSE_BY_WINOGRAD)


@pytest.mark.deep
@pytest.mark.parametrize(("output", "tiles", "block", "pads"), CASES)
def test_the_gradient_of_the_input_is_another_such_convolution(
    lab: Lab, output: int, tiles: int, block: int, pads: Pads
) -> None:
    conv, x = a_conv(pads), np.maximum(random(2, 5, 9, 7), 0)
    written = reference.compute(conv, x.astype(np.float64))
    given, others = random(*written.shape), random(*x.shape)
    source, target = tensor("x", x, block), tensor("y", written, block)
    slope: Slope[Conv] = Slope(
        conv,
        source,
        target,
        replace(target, name="given", halo=halo_of_given(conv, source, target)),
        replace(source, name="wanted", halo=Halo(1, 0, 0, 2)),
        lab.device,
        plus=replace(source, name="plus"),
        source_activation=RELU,
        parameters={"weight": Resident("weight", pack_weights(Site(conv, (source,), target, lab.device)).nbytes)},
    )
    assert slope.input_gradient
    assert slope.plus
    site = input_gradient_site(slope, slope.input_gradient)
    assert site
    weight = Resident("turned", pack_weights(site).nbytes)
    launches = winograd_gradient(slope, site, weight, {"OUTPUT": output, "TILES": tiles})
    arrays: dict[Argument, NDArray[Any]] = {slope.source: x, slope.output_gradient: given, slope.plus: others}
    bench = Bench(lab, launches, {**arrays, weight: pack_weights(site)})

    bench.run()

    expected = backward(conv, given.astype(np.float64), written, x.astype(np.float64)).inputs[0]
    assert_close(bench.image(slope.input_gradient), (expected + others) * (x > 0), CLOSE_BY_WINOGRAD)


def test_large_layers_on_a_cpu_are_computed_so(lab: Lab) -> None:
    conv = Conv("conv", ("x",), "y", random(64, 64, 3, 3), random(64), pads=(1, 1, 1, 1))
    source = Tensor("x", 64, 64, 14, 14, 16, Halo(1, 1, 1, 1))
    target, cpu = replace(source, name="y"), replace(lab.device, kind="cpu")
    given, input_gradient = replace(source, name="given"), replace(source, name="wanted")
    weights = {name: Resident(name, 4) for name in ("weight", "bias")}
    slope = Slope(conv, source, target, given, input_gradient, cpu, parameters=weights, gradients=weights)

    assert is_faster(Site(conv, (source,), target, cpu))
    assert not is_faster(Site(conv, (source,), target, replace(cpu, kind="gpu")))
    assert "conv_winograd" in [launch.kernel for launch in conv_gradient(slope)]
    strided = replace(slope, operator=replace(conv, strides=(2, 2)))
    assert input_gradient_site(strided, input_gradient) is None


def test_few_frames_at_a_time_give_the_same(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_of_a_frame = (
        36 * 2 * 3 * 2 * 4 * 4
    )  # frequencies of two groups of three tiles, two blocks of four channels
    monkeypatch.setattr("edged.engine.gradients.winograd_weights.CHUNK_BYTES", 2 * bytes_of_a_frame)
    conv, x = a_conv((1, 1, 1, 1)), random(5, 5, 9, 7)
    expected = reference.compute(conv, x.astype(np.float64))
    source = replace(tensor("x", x, 4), halo=Halo(1, 1, 1, 1))
    site = Site(conv, (source,), tensor("y", expected, 4), lab.device)
    weight, bias = Resident("weight", pack_weights(site).nbytes), Resident("bias", pack_bias(site).nbytes)
    launches = winograd_forward(site, weight, bias, {"OUTPUT": 4, "TILES": 3})
    bench = Bench(lab, launches, {source: x, weight: pack_weights(site), bias: pack_bias(site)})

    bench.run()

    assert [launch.frames for launch in launches[1:]] == [2, 2, 2, 2, 1, 1]
    assert_close(bench.image(site.output), expected, CLOSE_BY_WINOGRAD)
