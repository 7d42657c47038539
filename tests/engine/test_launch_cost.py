"""What launches have to compute and to move."""

from dataclasses import replace

import pytest

from edged.engine.device import Device
from edged.engine.launch import kernels_of
from edged.engine.launch_cost import LaunchCost, launch_costs
from edged.engine.planner import make_plan
from edged.engine.selection import Rules
from edged.model.cost import macs
from edged.model.graph import Graph
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.model.passes import simplify
from edged.model.resnet import random_resnet

SIZE = 64
WANTED = Input(SIZE, SIZE, "rgb", 1 / 255, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@pytest.fixture(scope="module")
def network() -> Graph:
    return simplify(random_resnet(18, SIZE, SIZE))


def costs_of(network: Graph, device: Device, batch: int = 1, conv: str = "auto") -> tuple[LaunchCost, ...]:
    return launch_costs(network, make_plan(ModelPart(network, WANTED), device, batch, chooser=Rules(conv)))


@pytest.mark.parametrize("conv", ["auto", "naive"])
@pytest.mark.parametrize("batch", [1, 4])
def test_the_launches_of_a_plan_have_the_networks_macs_between_them(
    network: Graph, device: Device, batch: int, conv: str
) -> None:
    costs = costs_of(network, device, batch, conv)

    assert sum(cost.macs for cost in costs) == pytest.approx(batch * macs(network), rel=1e-6)


def test_a_fully_connected_layer_moves_its_weights_its_input_and_its_output(
    network: Graph, device: Device
) -> None:
    *_, dense = costs_of(network, device, conv="naive")

    assert (dense.operator, dense.macs) == ("dense", 512 * 1000)
    assert dense.nbytes == 4 * (512 * 1000 + 1000 + 512 + 1000)


def test_weights_count_once_a_launch_and_tensors_once_a_frame(network: Graph, device: Device) -> None:
    one, two, three = (costs_of(network, device, batch, "naive")[-1].nbytes for batch in (1, 2, 3))

    assert two - one == three - two == 4 * (512 + 1000)


def test_half_stored_weights_are_half_the_bytes(network: Graph, device: Device) -> None:
    plan = make_plan(ModelPart(network, WANTED), device, precision="fp16-weights", chooser=Rules("naive"))

    assert launch_costs(network, plan)[-1].nbytes == 2 * 512 * 1000 + 4 * (1000 + 512 + 1000)


def test_what_several_launches_compute_belongs_to_the_one_with_the_weights(network: Graph, device: Device) -> None:
    plan = make_plan(ModelPart(network, WANTED), device, chooser=Rules("naive"))
    (*_, dense) = kernels_of(plan.launches)
    before = replace(dense, arguments=dense.tensors, kernel="transform")
    split = replace(plan, launches=(*plan.launches[:-1], before, dense))

    *_, transform, product = launch_costs(network, split)

    assert (transform.macs, product.macs) == (0, 512 * 1000)


def test_a_fused_launch_has_the_macs_of_all_that_it_computes(network: Graph, device: Device) -> None:
    plan = make_plan(ModelPart(network, WANTED), device, chooser=Rules("naive"))
    fused = replace(plan.launches[-1], operator="pool+stage4.block2.conv2+dense")
    alone = {cost.operator: cost.macs for cost in launch_costs(network, plan)}

    *_, cost = launch_costs(network, replace(plan, launches=(fused,)))

    assert cost.macs == alone["stage4.block2.conv2"] + alone["dense"]
    assert cost.operators == ("pool", "stage4.block2.conv2", "dense")
