"""The table by launch, its sums and findings."""

import json
from dataclasses import replace

from tests.engine.records import BOARD
from tests.mali.launched import convolution, statistics
from tools.mali.cost import cost_of
from tools.mali.gpus import BIFROST, GPUS
from tools.mali.launches import CompiledLaunch, MaliPlan
from tools.mali.report import Report, explanation, findings
from tools.mali.statistics import Compiled

WHOLE, WITHOUT = statistics(arith=6, ldst=9, loops=3), statistics(arith=2, ldst=5)


def compiled(group: int = 64, largest: int = 128, spills: int = 0, fills: int = 0) -> CompiledLaunch:
    launch = convolution(group=group)
    found = statistics(arith=6, ldst=9, loops=3, spills=spills, fills=fills)
    cost = cost_of(launch, found, WITHOUT, BIFROST, cores=4)
    return CompiledLaunch(launch, "TILE=4 OUTS=2", Compiled(found, largest), cost)


def failed() -> CompiledLaunch:
    return CompiledLaunch(convolution(group=32), "", Compiled(failure="OpenCL error -11: no"), None)


def report(*launches: CompiledLaunch) -> Report:
    plan = MaliPlan(BOARD, tuple(each.launch for each in launches), {}, on_host=("gather",))
    return Report("a network", GPUS["g52"], plan, launches)


def test_equal_launches_are_one_line_and_count_each() -> None:
    twice = report(compiled(), compiled(), compiled(group=32))

    lines = [line for line in twice.text().splitlines() if line.startswith("| up")]

    assert [line.split(" | ")[1] for line in lines] == ["2", "1"]
    assert "| TILE=4 OUTS=2 | 64 | 640 | 144 | 6.0 | 9.0 | ≤ 64 | 1 | 0:0 | 0 | 128 |" in lines[0]
    one = compiled().cost
    assert one
    assert twice.cycles == 3 * one.busiest
    assert twice.sums() == {"arith": 3 * one.cycles["arith"], "ldst": 3 * one.cycles["ldst"]}


def test_a_plan_in_which_nothing_is_wrong_has_no_findings() -> None:
    assert findings([compiled(), compiled(group=128)]) == []


def test_a_group_that_is_too_large_is_found() -> None:
    (finding,) = findings([compiled(), compiled(group=256, largest=64)])

    assert finding.startswith("group too large: conv_general of up has 256 work-items, its registers allow 64")


def test_registers_that_spill_are_found() -> None:
    assert findings([compiled(), compiled(spills=4, fills=25)]) == [
        "registers spill: 1 of 2 launches, most in conv_general of up"
    ]


def test_what_is_wrong_is_found_where_no_cost_was_estimated() -> None:
    right, large = (replace(each, cost=None) for each in (compiled(), compiled(group=256, largest=64)))

    assert findings([right]) == []
    assert [each.partition(":")[0] for each in findings([right, large, failed()])] == ["failed", "group too large"]


def test_a_kernel_that_failed_is_found_and_has_no_figures() -> None:
    shown = report(compiled(), failed())

    assert "failed: conv_general of up: OpenCL error -11: no" in shown.text()
    one = compiled().cost
    assert one
    assert shown.cycles == one.busiest


def test_what_is_left_out_is_said() -> None:
    assert "computed by the host, not counted: gather" in report(compiled()).text()
    assert "Left out: how long memory" in explanation([GPUS["g52"]])
    assert "Midgard" not in explanation([GPUS["g52"]])
    assert "Midgard" in explanation([GPUS["t620"]])


def test_json_has_each_launch() -> None:
    value = json.loads(json.dumps(report(compiled(spills=1), failed()).as_json()))

    good, bad = value["launches"]
    assert (good["kernel"], good["spills"], good["work_items"], good["passes"]) == ("conv_general", 1, 640, 144)
    assert (bad["failure"], bad["cycles"], bad["largest_group"]) == ("OpenCL error -11: no", None, None)
    assert value["gpu"] == "g52"
    assert value["findings"]
