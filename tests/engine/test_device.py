"""Finding a device."""

from dataclasses import replace

import pytest

from edged.engine.device import Device, find_device, list_devices, open_device
from edged.errors import DeviceError


def test_a_part_of_its_name_in_any_case_finds_a_device(device: Device) -> None:
    assert find_device(device.name.upper()) == replace(device, instructions=())
    assert find_device(device.platform[:8].lower()).platform == device.platform


def test_auto_prefers_a_gpu() -> None:
    kinds = [device.kind for device in list_devices()]

    assert find_device("auto").kind == ("gpu" if "gpu" in kinds else kinds[0])


@pytest.mark.parametrize("name", ["cuda", "CUDA:0", "edgetpu"])
def test_a_device_of_other_tools_is_an_error_that_says_what_to_write(device: Device, name: str) -> None:
    if name in device.platform.lower():
        pytest.skip(f"{device.platform}: {name} is a part of this platform's name")
    with pytest.raises(
        DeviceError, match="edged computes by OpenCL: write auto, gpu, cpu or numpy; available: "
    ) as error:
        find_device(name)
    assert device.name in str(error.value)


def test_an_unknown_device_is_an_error_that_lists_what_there_is(device: Device) -> None:
    with pytest.raises(DeviceError, match="no OpenCL device matches 'Voodoo'") as error:
        find_device("Voodoo")
    assert device.name in str(error.value)


def test_a_device_is_found_where_other_drivers_are_there_than_when_it_was_listed(device: Device) -> None:
    assert open_device(replace(device, position=(7, 0))).name.strip() == device.name


def test_a_device_that_has_gone_is_an_error(device: Device) -> None:
    with pytest.raises(DeviceError, match="no longer there"):
        open_device(replace(device, name="another"))
