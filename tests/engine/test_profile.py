"""Kernels of a plan, measured; and what several of them are together."""

import math
from pathlib import Path

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.launch_cost import LaunchCost, launch_costs
from edged.engine.peaks import Peaks
from edged.engine.planner import make_plan
from edged.engine.profile import KernelProfile, Profile, by_layer, profile, side_by_side
from edged.engine.runtime import Runtime
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from tests.system.scripted_machine import ScriptedMachine

WANTED = Input(32, 32, "rgb", 1 / 255, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@pytest.fixture(scope="module")
def measured(network_device: Device, programs_directory: Path) -> Profile:
    """ResNet-18 at 32×32, two frames a job, four jobs."""
    network = simplify(random_resnet(18, 32, 32))
    runtime = Runtime(ModelPart(network, WANTED), network_device, batch=2, cache=programs_directory)
    costs = launch_costs(network, make_plan(ModelPart(network, WANTED), network_device, 2))
    return profile(runtime, costs, np.zeros((2, 32, 32, 3), np.uint8), runs=4)


@pytest.mark.deep
def test_runs_of_other_states_do_not_count(
    network_device: Device, programs_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("TURN_S", "ENOUGH_S"):  # a slow device would get fewer runs
        monkeypatch.setattr(f"edged.engine.profile.{limit}", math.inf)
    network = simplify(random_resnet(18, 32, 32))
    runtime = Runtime(ModelPart(network, WANTED), network_device, cache=programs_directory)
    machine = ScriptedMachine("changed", "two-core")
    images = np.zeros((1, 32, 32, 3), np.uint8)

    found = profile(runtime, runtime.costs, images, runs=12, machine=machine)

    assert [run.state for run in found.runs] == ["changed"] * 10 + ["two-core"] * 2
    assert len(found.those("two-core".__eq__).runs) == 2


def kernel(
    operator: str, name: str = "conv", macs: int = 1, nbytes: int = 1, seconds: float = 1.0
) -> KernelProfile:
    return KernelProfile(LaunchCost(operator, name, macs, nbytes), seconds)


@pytest.mark.deep
def test_each_launch_is_measured_under_its_own_name(measured: Profile) -> None:
    for run in measured.runs:
        assert [(k.operator, k.kernel) for k in run.result.kernels] == [
            (cost.operator, cost.kernel) for cost in measured.costs
        ]
    assert (measured.frames, len(measured.runs)) == (2, 4)


@pytest.mark.deep
def test_kernels_lie_within_the_forward_pass_and_that_within_the_wall_time(measured: Profile) -> None:
    for run in measured.runs:
        assert sum(kernel.seconds for kernel in run.result.kernels) <= run.result.forward_s <= run.wall_s
    assert measured.gaps_s == measured.forward_s - measured.kernels_s


def test_a_kernel_on_the_roof_reaches_all_of_its_bound() -> None:
    peaks = Peaks(flops_per_s=200.0, bytes_per_s=10.0)
    arithmetic, memory = kernel("a", macs=100, nbytes=1), kernel("b", macs=10, nbytes=5)

    assert (arithmetic.bound(peaks), arithmetic.share_of_bound(peaks)) == ("arithmetic", 1.0)
    assert (memory.bound(peaks), memory.share_of_bound(peaks)) == ("memory", 0.5)


def test_a_layer_is_the_sum_of_its_kernels_and_named_after_the_one_that_computes() -> None:
    transform = kernel("a", "transform", macs=0, nbytes=30, seconds=0.5)
    product = kernel("a", "product", macs=8, nbytes=20, seconds=2.0)

    layers = by_layer([transform, product, kernel("b")])

    assert layers == [kernel("a", "product", macs=8, nbytes=50, seconds=2.5), kernel("b")]


def test_what_one_plan_has_fused_is_one_layer_of_both() -> None:
    separate = [
        kernel("stem", seconds=1),
        kernel("a", seconds=2),
        kernel("b", seconds=3),
        kernel("head", seconds=4),
    ]
    fused = [kernel("stem", seconds=1), kernel("a+b", seconds=2), kernel("head", seconds=3)]

    for first, second, expected in (
        (separate, fused, [(1, 1), (5, 2), (4, 3)]),
        (fused, separate, [(1, 1), (2, 5), (3, 4)]),
    ):
        pairs = side_by_side(first, second)
        assert [(mine.seconds, theirs.seconds) for mine, theirs in pairs] == expected
        assert pairs[1][0].cost.operators == ("a", "b")
