"""The cycles of a launch, by examples small enough to count."""

import pytest

from edged.engine.launch import Launch
from tests.mali.launched import convolution, statistics
from tools.mali.cost import cost_of, occupied_items
from tools.mali.gpus import BIFROST
from tools.mali.loops import known_loops, without_inner_loops


def test_what_is_inside_the_loops_counts_as_often_as_they_run() -> None:
    whole, without = statistics(arith=6, ldst=9, loops=1), statistics(arith=2, ldst=5)

    cost = cost_of(convolution(items=640), whole, without, BIFROST, cores=4)

    passes = 3 * 3 * 16
    assert cost.passes == passes
    assert cost.cycles == {"arith": 640 / 4 * (2 + 4 * passes), "ldst": 640 / 4 * (5 + 4 * passes)}
    assert cost.busiest == cost.cycles["ldst"]


@pytest.mark.parametrize(
    ("span", "loops", "passes"), [(16, 4, 576), (16, 3, 144), (3, 2, 9), (1, 1, 3), (3, 0, 1)]
)
def test_loops_that_the_compiler_unrolled_are_a_part_of_what_it_counts(span: int, loops: int, passes: int) -> None:
    whole, without = statistics(arith=6, ldst=9, loops=loops), statistics(arith=2, ldst=5)

    launch = convolution(kernel="conv_vector", SPAN=span)

    assert cost_of(launch, whole, without, BIFROST, cores=4).passes == passes


def test_an_image_of_few_channels_takes_a_step_for_all_of_them() -> None:
    whole, without = statistics(arith=6, ldst=9, loops=1), statistics(arith=2, ldst=5)

    assert cost_of(convolution(SPAN=3, IN_BLOCK=1), whole, without, BIFROST, cores=4).passes == 9


def test_a_kernel_that_does_not_compile_without_its_loops_counts_as_inside_them() -> None:
    cost = cost_of(convolution(items=640), statistics(arith=6, ldst=9, loops=1), None, BIFROST, cores=4)

    assert cost.cycles["arith"] == 640 / 4 * 6 * 144


def test_loops_that_clear_the_halo_are_not_the_convolutions() -> None:
    whole, without = statistics(arith=6, ldst=9, loops=5), statistics(arith=2, ldst=5, loops=3)

    one_by_one = convolution(KERNEL_H=1, KERNEL_W=1)

    assert cost_of(one_by_one, whole, without, BIFROST, cores=4).passes == 16


def test_groups_take_whole_sets_of_lanes() -> None:
    assert occupied_items(convolution(group=64, items=640, planes=2), lanes=16) == 1280
    assert occupied_items(convolution(group=1, items=640), lanes=16) == 640 * 16
    assert occupied_items(convolution(group=20, items=40), lanes=8) == 2 * 24


def test_a_kernel_without_its_inner_loops_has_the_same_other_macros() -> None:
    short = without_inner_loops(convolution(TILE=4))

    assert short
    assert short.defines == {**convolution(TILE=4).defines, "SPAN": 0}


def test_a_pool_reads_its_whole_window_in_each_pixel() -> None:
    pool = Launch("max_pool", "pool", {"RUN": 1, "KERNEL_H": 3, "KERNEL_W": 2}, (), items=8)

    assert without_inner_loops(pool) is None
    assert cost_of(pool, statistics(arith=1, ldst=2, loops=3), None, BIFROST, cores=1).passes == 6
    assert cost_of(pool, statistics(arith=1, ldst=2, loops=1), None, BIFROST, cores=1).passes == 1


@pytest.mark.parametrize(("run", "block", "passes"), [(1, 4, 1), (1, 8, 8), (30, 4, 120)])
def test_a_pixel_is_prepared_at_once_or_channel_by_channel(run: int, block: int, passes: int) -> None:
    prepare = Launch("prepare", "prepare", {"RUN": run, "OUT_BLOCK": block, "OUT_BLOCKS": 1}, (), items=8)

    assert cost_of(prepare, statistics(arith=1, ldst=2, loops=2), None, BIFROST, cores=1).passes == passes


def test_loops_of_an_unknown_kernel_are_called_unknown() -> None:
    unknown = Launch("own", "own", {}, (), items=8)

    assert known_loops(unknown) is None
    assert cost_of(unknown, statistics(arith=1, ldst=2, loops=1), None, BIFROST, cores=1).passes is None
    assert cost_of(unknown, statistics(arith=1, ldst=2, loops=0), None, BIFROST, cores=1).passes == 1
