"""Mesa's compilers themselves, where the root with them was made: a network, and errors that must be found."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from edged.config import ModelConfig
from edged.engine.launch import Launch
from edged.errors import DeviceError
from edged.model.package import load_model
from tools.mali.__main__ import main, report_on
from tools.mali.gpus import GPUS, Gpu
from tools.mali.launches import CompiledLaunch
from tools.mali.report import Report, findings
from tools.mali.root import Program, Root, default_folder

# Loops of up to 32 rounds are unrolled; with longer ones the array itself would lie in memory, which is no spill.
MANY_SUMS = """
__kernel void many_sums(__global const float4 *in, __global float4 *out, int n)
{
    float4 sum[24];
    for (int i = 0; i < 24; i++)
        sum[i] = in[i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 24; i++)
            sum[i] += sum[(i + 1) % 24] * in[k];
    for (int i = 0; i < 24; i++)
        out[i] = sum[i];
}
"""
BOTH = ("t620", "g52")
DOUBLE = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }"


@pytest.fixture(scope="module")
def root() -> Root:
    """The root of Debian 13 with Mesa; skipped where it was not made."""
    found = Root(default_folder())
    if not found.is_there:
        pytest.skip(f"no root of trixie with Mesa in {found.folder}: `python -m tools.mali digits` makes it")
    return found


@pytest.fixture(scope="module")
def reports(root: Root) -> Mapping[str, Report]:
    """`digits` on two GPUs, by their names."""
    model = load_model(ModelConfig(name="digits"))
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda name: report_on("digits", model, GPUS[name], "fp32", root), BOTH)
        return dict(zip(BOTH, found, strict=True))


def compiled(root: Root, gpu: Gpu, source: str, kernel: str, group: int) -> CompiledLaunch:
    """A planted kernel in the place of one of edged's."""
    answer = root.compile(gpu, [program := Program(source, kernel, ("-cl-std=CL1.2",))])[program]
    return CompiledLaunch(Launch(kernel, "planted", {}, (), items=1024, group=group), "", answer, None)


@pytest.mark.parametrize("gpu", BOTH)
def test_all_kernels_of_a_network_compile(reports: Mapping[str, Report], gpu: str) -> None:
    report = reports[gpu]

    assert f"Mali-{gpu.upper()}" in report.plan.device.name
    assert len(report.launches) > 10
    assert not [each.compiled.failure for each in report.launches if each.cost is None]
    convolutions = [each for each in report.launches if each.launch.kernel == "conv_general"]
    assert min(each.cost.passes or 0 for each in convolutions if each.cost) >= 1
    assert all(each.cost and each.cost.busiest > 0 for each in report.launches)
    assert not [finding for finding in findings(report.launches) if finding.startswith(("failed", "group"))]


@pytest.mark.parametrize("gpu", BOTH)
def test_a_planted_array_that_lies_in_memory_is_found(root: Root, gpu: str) -> None:
    planted = compiled(root, GPUS[gpu], MANY_SUMS.replace("24", "48"), "many_sums", group=64)

    assert not planted.spills
    assert planted.compiled.private_bytes == 48 * 16


@pytest.mark.parametrize("gpu", BOTH)
def test_a_planted_kernel_that_spills_is_found(root: Root, gpu: str) -> None:
    planted = compiled(root, GPUS[gpu], MANY_SUMS, "many_sums", group=64)

    assert planted.compiled.failure == ""
    assert planted.spills
    light = compiled(root, GPUS[gpu], DOUBLE, "twice", group=64)
    assert light.compiled.failure == ""
    assert not light.spills


def test_a_planted_group_that_is_too_large_is_found(reports: Mapping[str, Report]) -> None:
    heavy = next(each for each in reports["t620"].launches if each.launch.kernel == "conv_general")

    planted = replace(heavy, launch=replace(heavy.launch, group=4 * heavy.compiled.largest_group))

    assert heavy.fits
    assert not planted.fits
    assert any(finding.startswith("group too large") for finding in findings([planted]))


def test_a_kernel_that_no_compiler_takes_is_named_and_the_others_are_compiled(root: Root) -> None:
    broken = Program("__kernel void broken(__global flaot *x) { }", "broken", ("-cl-std=CL1.2",))
    good = Program(DOUBLE, "twice", ("-cl-std=CL1.2",))

    answers = root.compile(GPUS["g610"], [broken, good])

    assert "flaot" in answers[broken].failure
    assert answers[good].failure == ""


def test_the_command_prints_a_table_and_what_the_figures_leave_out(
    root: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["digits", "--gpu", "g52", "--root", str(root.folder)]) == 0

    printed = capsys.readouterr().out
    assert "| softmax | 1 | softmax |" in printed
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
    assert compiled(made, GPUS["g610"], DOUBLE, "twice", group=64).compiled.failure == ""
