"""Mesa's compilers themselves, where the root with them was made: a network, and errors that must be found."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edged.config import ModelConfig
from edged.engine.launch import Launch
from edged.errors import DeviceError
from edged.model.cost import operator_macs
from edged.model.package import load_model
from tools.mali.__main__ import main, report_on
from tools.mali.cost import Cost
from tools.mali.gpus import GPUS
from tools.mali.launches import CompiledLaunch
from tools.mali.report import Report, findings
from tools.mali.root import Program, Root, default_folder
from tools.mali.statistics import Compiled

# Loops of up to 32 rounds are unrolled; with longer ones the array itself lies in memory, which is no spill.
MANY_SUMS = """
__kernel void many_sums(__global const float4 *in, __global float4 *out, int n)
{
    float4 sum[SUMS];
    for (int i = 0; i < SUMS; i++)
        sum[i] = in[i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < SUMS; i++)
            sum[i] += sum[(i + 1) % SUMS] * in[k];
    for (int i = 0; i < SUMS; i++)
        out[i] = sum[i];
}
"""
OPTIONS = ("-cl-std=CL1.2",)
SPILLS = Program(MANY_SUMS, "many_sums", (*OPTIONS, "-DSUMS=24"))
ARRAY = Program(MANY_SUMS, "many_sums", (*OPTIONS, "-DSUMS=48"))
LIGHT = Program("__kernel void light(__global float *x) { x[get_global_id(0)] *= 2; }", "light", OPTIONS)
BROKEN = Program("__kernel void broken(__global flaot *x) { }", "broken", OPTIONS)
OF_A_NETWORK = ("t620", "g610")
OF_EACH_FAMILY = ("t620", "g52", "g610")


@pytest.fixture(scope="module")
def reports(root: Root) -> Mapping[str, Report]:
    """`digits` on two GPUs at once, by their names."""
    model = load_model(ModelConfig(name="digits"))
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda name: report_on("digits", model, GPUS[name], "fp32", root), OF_A_NETWORK)
        return dict(zip(OF_A_NETWORK, found, strict=True))


@pytest.fixture(scope="module")
def planted(root: Root) -> Mapping[str, Mapping[Program, Compiled]]:
    """The planted kernels compiled for a GPU of each family, by its name."""
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda name: root.compile(GPUS[name], [BROKEN, SPILLS, ARRAY, LIGHT]), OF_EACH_FAMILY)
        return dict(zip(OF_EACH_FAMILY, found, strict=True))


def in_a_plan(compiled: Compiled, group: int = 64) -> CompiledLaunch:
    """A planted kernel in the place of one of edged's."""
    launch = Launch("planted", "up", {}, (), items=1024, group=group)
    return CompiledLaunch(launch, "", compiled, Cost({"bundles": 1.0}, passes=1))


@pytest.mark.parametrize("gpu", OF_A_NETWORK)
def test_all_kernels_of_a_network_compile(reports: Mapping[str, Report], gpu: str) -> None:
    report = reports[gpu]

    assert f"Mali-{gpu.upper()}" in report.plan.device.name
    assert len(report.launches) > 10
    assert not [each.compiled.failure for each in report.launches if each.cost is None]
    assert all(each.cost and each.cost.busiest > 0 and each.cost.passes for each in report.launches)
    assert not [finding for finding in findings(report.launches) if finding.startswith(("failed", "group"))]


@pytest.mark.parametrize("gpu", OF_A_NETWORK)
def test_no_kernel_that_is_chosen_without_tuning_spills(reports: Mapping[str, Report], gpu: str) -> None:
    assert not [finding for finding in findings(reports[gpu].launches) if finding.startswith("registers")]


def test_the_multiply_adds_of_the_model_are_those_of_the_network(reports: Mapping[str, Report]) -> None:
    report, graph = reports["g610"], load_model(ModelConfig(name="digits")).graph
    fewer = {each.launch.operator for each in report.launches if each.launch.kernel == "conv_frequencies"}

    cycles = sum(
        each.cost.cycles["fma"] for each in report.launches if each.cost and each.launch.operator not in fewer
    )
    counted = 64 * report.plan.device.compute_units * cycles  # 64 a cycle

    in_all = sum(operator_macs(graph, operator) for operator in graph.operators if operator.name not in fewer)
    assert in_all < counted < 1.5 * in_all  # tiles at the edges compute some twice


@pytest.mark.parametrize("gpu", OF_EACH_FAMILY)
def test_a_planted_kernel_that_spills_is_found(
    planted: Mapping[str, Mapping[Program, Compiled]], gpu: str
) -> None:
    heavy, light = in_a_plan(planted[gpu][SPILLS]), in_a_plan(planted[gpu][LIGHT])

    assert findings([heavy, light]) == ["registers spill: 1 of 2 launches, most in planted of up"]


@pytest.mark.parametrize("gpu", OF_EACH_FAMILY)
def test_a_planted_array_in_memory_is_no_spill(
    planted: Mapping[str, Mapping[Program, Compiled]], gpu: str
) -> None:
    assert findings([in_a_plan(planted[gpu][ARRAY])]) == []
    assert planted[gpu][ARRAY].private_bytes == 48 * 16
    assert planted[gpu][LIGHT].private_bytes == 0


def test_a_planted_group_that_is_too_large_is_found(planted: Mapping[str, Mapping[Program, Compiled]]) -> None:
    heavy, light = planted["t620"][SPILLS], planted["t620"][LIGHT]

    found = findings([in_a_plan(heavy, group=light.largest_group), in_a_plan(light, group=light.largest_group)])

    limit = heavy.largest_group
    assert limit < light.largest_group
    assert found[0].startswith(
        f"group too large: planted of up has {light.largest_group} work-items, its registers allow {limit};"
    )
    assert found[1:] == ["registers spill: 1 of 2 launches, most in planted of up"]


@pytest.mark.parametrize("gpu", OF_EACH_FAMILY)
def test_a_kernel_that_no_compiler_takes_is_named(
    planted: Mapping[str, Mapping[Program, Compiled]], gpu: str
) -> None:
    assert "flaot" in planted[gpu][BROKEN].failure
    assert planted[gpu][LIGHT].failure == ""


@pytest.mark.parametrize("gpu", ["v3d42", "v3d71", "a630"])
def test_other_drivers_of_mesa_compile_too(root: Root, gpu: str) -> None:
    compiled = root.compile(GPUS[gpu], [BROKEN, LIGHT])

    assert "flaot" in compiled[BROKEN].failure
    assert compiled[LIGHT].failure == ""
    assert findings([in_a_plan(compiled[LIGHT])]) == []


def test_the_command_prints_a_table_and_what_the_figures_leave_out(
    reports: Mapping[str, Report], root: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["digits", "--gpu", ",".join(reports), "--root", str(root.folder)]) == 0

    printed = capsys.readouterr().out
    assert printed.count("| softmax | 1 | softmax |") == len(reports)
    assert "Mcycles of a core a frame" in printed
    assert "Left out" in printed


def test_an_unknown_gpu_is_an_error_that_lists_all(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["digits", "--gpu", "g9", "--root", str(tmp_path)]) == 2

    assert "'g9'" in capsys.readouterr().err


@pytest.mark.deep
@pytest.mark.parametrize("release", ["trixie", "forky"])
def test_the_root_is_made_from_debian_alone_and_compiles(release: str) -> None:
    made = Root(default_folder(), release)
    try:
        made.make()
    except DeviceError as error:
        pytest.skip(str(error))  # "no root of …"

    device = made.device(GPUS["g610"])

    assert device.name.startswith("Mali-G610")
    assert made.compile(GPUS["g610"], [LIGHT])[LIGHT].failure == ""
