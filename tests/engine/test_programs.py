"""Kernels from source and from the cache."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from edged.engine.compile_apart import prepare_programs
from edged.engine.compiling import build
from edged.engine.device import POCL, Device, Kind, open_device
from edged.engine.executable import Executable
from edged.engine.launch import Images, Launch
from edged.engine.layout import Defines, Tensor, to_memory
from edged.engine.memory import arrange, lifetimes
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.engine.programs import (
    STANDARD,
    WITHOUT_WARNINGS,
    Binaries,
    Programs,
    compiler_options,
    source_of,
)
from edged.engine.variants.elementwise import ACTIVATE
from edged.engine.variants.variant import Site
from edged.errors import DeviceError
from edged.model.activations import RELU
from edged.model.graph import Activate
from tests.engine.conftest import CPUS, name_of
from tests.engine.lab import Lab, assert_close, random

FILES = sorted(file.name.removesuffix(".cl") for file in (files("edged.engine") / "kernels").iterdir())
KERNELS = [name for name in FILES if name != "pocl_builtins"]  # which declares what other compilers define
POCL_CPUS = [device for device in CPUS if device.platform == POCL]
LAUNCH = Launch("activate", "some operator", {}, (), items=1)


@pytest.mark.deep
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_file_compiles_alone_as_strict_opencl_1_2(lab: Lab, kernel: str) -> None:
    build(cl.Program(lab.context, source_of(kernel)), [*STANDARD])


@pytest.mark.parametrize(
    ("platform", "kind", "prefetches"),
    [
        ("Portable Computing Language", "cpu", True),
        ("Intel(R) OpenCL", "cpu", True),
        ("rusticl", "cpu", False),  # its SPIR-V translator ends the process
        ("rusticl", "gpu", False),
        ("Portable Computing Language", "gpu", False),  # PoCL's level0 driver uses the same translator
        ("ARM Platform", "gpu", False),
        ("NVIDIA CUDA", "gpu", False),
        ("Oclgrind", "cpu", False),
    ],
)
def test_kernels_prefetch_and_fail_by_a_warning_only_where_the_compiler_is_proven(
    device: Device, platform: str, kind: Kind, prefetches: bool
) -> None:
    options = compiler_options(replace(device, platform=platform, kind=kind, driver="3.1", fp16=False))

    assert options == ((*STANDARD, "-DCLANG_BUILTINS") if prefetches else WITHOUT_WARNINGS)


@pytest.mark.parametrize(
    ("platform", "fp16", "is_a_type"),
    [("rusticl", True, True), ("rusticl", False, False), ("ARM Platform", True, True), (POCL, True, False)],
)
def test_half_is_a_type_where_the_device_and_the_declarations_have_it(
    device: Device, platform: str, fp16: bool, is_a_type: bool
) -> None:
    options = compiler_options(replace(device, platform=platform, kind="gpu", fp16=fp16))

    assert ("-DHALF_IS_A_TYPE" in options) == is_a_type


def test_a_warning_of_an_unproven_compiler_refuses_no_kernel(device: Device, tmp_path: Path) -> None:
    gpu = replace(device, kind="gpu")  # the same compiler, which edged then knows nothing of
    warns = (
        '#pragma clang diagnostic ignored "-Wof-another-clang"\nkernel void one_launch(global int *y) { *y = 1; }'
    )

    assert programs(gpu, tmp_path).composed(warns).function_name == "one_launch"


@pytest.mark.parametrize(
    ("driver", "without"), [("3.1+debian", False), ("6.0+debian", False), ("7.1+debian", True)]
)
def test_the_compiler_that_heeds_no_pragma_gives_no_warnings(device: Device, driver: str, without: bool) -> None:
    options = compiler_options(replace(device, platform=POCL, kind="cpu", driver=driver))

    assert options[:2] == (WITHOUT_WARNINGS if without else STANDARD)


@pytest.mark.parametrize("device", POCL_CPUS, ids=name_of)
@pytest.mark.parametrize(
    ("kernel", "defines"),
    [("conv_vector", {"PREFETCH": 1, "AHEAD": 8, "SHARE": 1, "NEXT_PIXELS": 0}), ("conv_winograd", {})],
)
def test_pocl_gets_prefetches(device: Device, kernel: str, defines: Defines, tmp_path: Path) -> None:
    made = programs(device, tmp_path).kernel(Launch(kernel, "some operator", defines, (), items=1))

    assert b"llvm.prefetch" in made.program.get_info(cl.program_info.BINARIES)[0]  # a name in LLVM's code


def programs(device: Device, directory: Path) -> Programs:
    return Programs(cl.Context([open_device(device)]), device, Binaries(directory))


def test_equal_launches_share_a_program(device: Device, tmp_path: Path) -> None:
    made = programs(device, tmp_path)

    kernels = [made.kernel(LAUNCH), made.kernel(LAUNCH)]
    made.save()

    assert kernels[0].program == kernels[1].program
    assert len(list(tmp_path.iterdir())) == 1


def test_preparing_compiles_each_program_once_and_tells_how_far_it_is(
    device: Device, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "edged.compiling")
    wide = replace(LAUNCH, defines={"RUN": 2})

    prepare_programs(programs(device, tmp_path), [LAUNCH, wide, LAUNCH])
    assert [record.getMessage() for record in caplog.records] == [
        f"compiling 2 kernels for {device.name}",
        f"compiling 2 kernels for {device.name}: 1 done",
        f"compiling 2 kernels for {device.name}: 2 done",
        f"compiled 2 kernels for {device.name}",
    ]
    caplog.clear()

    prepare_programs(programs(device, tmp_path), [LAUNCH, wide])
    assert not caplog.records


def test_an_interrupted_start_is_gone_on_with(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = replace(LAUNCH, defines={"OUT_BLOCK": 1})  # and no OUT_WIDTH
    caplog.set_level("INFO", "edged.compiling")
    with pytest.raises(DeviceError):
        prepare_programs(programs(device, tmp_path), [LAUNCH, broken])
    assert caplog.messages[-1] == f"failed to compile 2 kernels for {device.name}"
    monkeypatch.setattr(Programs, "_compile", None)

    prepare_programs(programs(device, tmp_path), [LAUNCH])


@pytest.mark.parametrize(("limit", "group"), [(64, 64), (63, 32), (8, 8), (1, 1)])
def test_a_kernel_that_is_too_heavy_for_its_work_group_gets_a_smaller_one(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, group: int
) -> None:
    monkeypatch.setattr(Programs, "_largest_group", lambda programs, kernel: limit)
    x = random(1, 20, 9, 9)
    site = Site(
        Activate("relu", ("x",), "y", RELU),
        (Tensor("x", 1, 20, 9, 9, 4),),
        Tensor("y", 1, 20, 9, 9, 4),
        lab.device,
    )
    launch = replace(ACTIVATE.launches(site, {})[0], group=64)
    plan = Plan(Images(1, 1, 1), (launch,), site.output, arrange(lifetimes([launch]), lab.device.alignment))
    executable = Executable(plan, lab.context, lab.device, programs_of(lab, tmp_path))
    (step,) = executable.forward[0]

    cl.enqueue_copy(lab.queue, executable.memory_of(site.inputs[0]), to_memory(site.inputs[0], x))
    step.enqueue(lab.queue, 1)

    assert step.launch.group == group
    assert_close(lab.output(executable, site.output), np.maximum(x, 0))


def programs_of(lab: Lab, directory: Path) -> Programs:
    return Programs(lab.context, lab.device, Binaries(directory))


def test_a_second_start_compiles_nothing(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = programs(device, tmp_path)
    first.kernel(LAUNCH)
    first.save()
    monkeypatch.setattr(Programs, "_compile", None)

    programs(device, tmp_path).kernel(LAUNCH)


@pytest.mark.parametrize(
    "damage", [lambda entry: entry[:-100], lambda entry: entry[:-1] + b"\0", lambda entry: b""]
)
def test_a_damaged_entry_is_built_again(device: Device, tmp_path: Path, damage: object) -> None:
    first = programs(device, tmp_path)
    first.kernel(LAUNCH)
    first.save()
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))  # type: ignore[operator]

    second = programs(device, tmp_path)
    second.kernel(LAUNCH)
    second.save()

    assert len(entry.read_bytes()) == len(whole)


def test_what_the_driver_refuses_is_built_again(device: Device, tmp_path: Path) -> None:
    first = programs(device, tmp_path)
    first.kernel(LAUNCH)
    first.save()
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()
    Binaries(tmp_path).save(entry.stem, b"not a program, but with a right checksum")

    second = programs(device, tmp_path)
    second.kernel(LAUNCH)
    second.save()

    assert len(entry.read_bytes()) == len(whole)


def test_a_cache_that_cannot_be_written_is_logged_once(
    device: Device, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    made = programs(device, tmp_path / "file")

    made.kernel(LAUNCH)
    made.save()

    assert [record.message[:34] for record in caplog.records] == ["compiled programs cannot be kept, "]


def test_what_does_not_compile_is_an_error_that_names_kernel_and_operator(device: Device, tmp_path: Path) -> None:
    broken = Launch("activate", "stage1.relu", {"OUT_BLOCK": 1}, (), items=1)  # and no OUT_WIDTH

    with pytest.raises(DeviceError, match=r"failed while compiling activate for stage1\.relu.*error:"):
        programs(device, tmp_path).kernel(broken)
