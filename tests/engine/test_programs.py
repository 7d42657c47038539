"""Kernels from source and from the cache."""

from importlib.resources import files
from pathlib import Path

import pytest

from edged.engine.binaries import Binaries
from edged.engine.device import Device, open_device
from edged.engine.launch import Launch
from edged.engine.opencl import cl
from edged.engine.programs import STANDARD, Programs, build, source_of
from edged.errors import DeviceError
from tests.engine.lab import Lab

KERNELS = sorted(file.name.removesuffix(".cl") for file in (files("edged.engine") / "kernels").iterdir())
RELU = Launch("relu", "some operator", {}, (), items=1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_file_compiles_alone_as_strict_opencl_1_2(lab: Lab, kernel: str) -> None:
    build(cl.Program(lab.context, source_of(kernel)), [*STANDARD])


def programs(device: Device, directory: Path) -> Programs:
    return Programs(cl.Context([open_device(device)]), device, Binaries(directory))


def test_equal_launches_share_a_program(device: Device, tmp_path: Path) -> None:
    made = programs(device, tmp_path)

    kernels = [made.kernel(RELU), made.kernel(RELU)]
    made.save()

    assert kernels[0].program == kernels[1].program
    assert len(list(tmp_path.iterdir())) == 1


def test_a_second_start_compiles_nothing(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = programs(device, tmp_path)
    first.kernel(RELU)
    first.save()
    monkeypatch.setattr(Programs, "_compile", None)

    programs(device, tmp_path).kernel(RELU)


@pytest.mark.parametrize(
    "damage", [lambda entry: entry[:-100], lambda entry: entry[:-1] + b"\0", lambda entry: b""]
)
def test_a_damaged_entry_is_built_again(device: Device, tmp_path: Path, damage: object) -> None:
    first = programs(device, tmp_path)
    first.kernel(RELU)
    first.save()
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))  # type: ignore[operator]

    second = programs(device, tmp_path)
    second.kernel(RELU)
    second.save()

    assert len(entry.read_bytes()) == len(whole)


def test_what_the_driver_refuses_is_built_again(device: Device, tmp_path: Path) -> None:
    first = programs(device, tmp_path)
    first.kernel(RELU)
    first.save()
    (entry,) = tmp_path.iterdir()
    Binaries(tmp_path).save(entry.stem, b"not a program, but with a right checksum")

    programs(device, tmp_path).kernel(RELU)


def test_a_cache_that_cannot_be_written_is_told_once(
    device: Device, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    made = programs(device, tmp_path / "file")

    made.kernel(RELU)
    made.save()

    assert [record.message[:34] for record in caplog.records] == ["compiled programs cannot be kept, "]


def test_what_does_not_compile_is_an_error_that_names_kernel_and_operator(device: Device, tmp_path: Path) -> None:
    broken = Launch("relu", "stage1.relu", {"OUT_BLOCK": 1}, (), items=1)  # and no OUT_WIDTH

    with pytest.raises(DeviceError, match=r"failed while compiling relu for stage1\.relu.*error:"):
        programs(device, tmp_path).kernel(broken)
