"""Compilations in a process of their own."""

from pathlib import Path

import pytest

from edged.engine.device import Device, open_device
from edged.engine.opencl import cl
from edged.engine.programs import Binaries, Programs, compile_apart
from edged.errors import DeviceError

SOURCE = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void one_launch(__global int *a) { *a = 1; }"


@pytest.mark.deep
def test_the_program_is_in_the_cache_then(own_device: Device, tmp_path: Path) -> None:
    programs = Programs(cl.Context([open_device(own_device)]), own_device, Binaries(tmp_path))
    assert not programs.has(SOURCE)

    compile_apart(own_device, tmp_path, SOURCE)

    assert programs.has(SOURCE)
    assert programs.composed(SOURCE).function_name == "one_launch"


def test_a_compiler_that_fails_is_an_error_and_no_end(own_device: Device, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"no compilation for one launch: .*error: .+this"):
        compile_apart(own_device, tmp_path, "this is no OpenCL C")
