"""Compilations in processes of their own."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from edged.engine import compile_apart
from edged.engine.compile_apart import FEWEST_KERNELS, compile_launches, prepare_programs, processes_for
from edged.engine.device import Device, open_device
from edged.engine.launch import Launch
from edged.engine.opencl import cl
from edged.engine.programs import Binaries, Programs
from edged.errors import DeviceError

SOURCE = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void one_launch(__global int *a) { *a = 1; }"
KERNELS = [
    Launch("activate", "some operator", {"RUN": run}, (), items=1) for run in range(1, 2 * FEWEST_KERNELS + 1)
]


def programs(device: Device, folder: Path) -> Programs:
    return Programs(cl.Context([open_device(device)]), device, Binaries(folder))


@pytest.mark.deep
def test_the_programs_are_in_the_cache_then(own_device: Device, tmp_path: Path) -> None:
    there, sources = programs(own_device, tmp_path), [SOURCE, SOURCE.replace("= 1", "= 2")]
    assert not any(map(there.has, sources))

    compile_launches(there, sources)

    assert all(map(there.has, sources))
    assert there.composed(SOURCE).function_name == "one_launch"


def test_a_compiler_that_fails_is_an_error_and_no_end(own_device: Device, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"no compilation for one launch: .*error: .+this"):
        compile_launches(programs(own_device, tmp_path), ["this is no OpenCL C"])


def test_many_kernels_are_compiled_side_by_side(
    own_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    two_processors(monkeypatch)
    caplog.set_level("INFO", "edged.compiling")

    prepare_programs(programs(own_device, tmp_path), KERNELS)

    assert not programs(own_device, tmp_path).missing(KERNELS)
    assert sum(": " in message for message in caplog.messages) == len(KERNELS) / 2  # the others elsewhere


def test_kernels_whose_process_fails_are_compiled_by_this_one(
    own_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    two_processors(monkeypatch)
    monkeypatch.setattr(compile_apart, "MODULE", "edged.no_such_module")

    prepare_programs(programs(own_device, tmp_path), KERNELS)

    assert not programs(own_device, tmp_path).missing(KERNELS)
    assert "side by side: " in caplog.text
    assert "they are compiled one by one" in caplog.text


def test_few_kernels_and_those_of_a_gpu_are_compiled_by_one_process(
    own_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_processors(monkeypatch)

    assert processes_for(own_device, len(KERNELS)) == 2
    assert processes_for(own_device, FEWEST_KERNELS) == 1
    assert processes_for(replace(own_device, kind="gpu"), len(KERNELS)) == 1


def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
