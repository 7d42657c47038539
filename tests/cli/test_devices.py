"""`edged devices`."""

import json

import pytest

from edged.cli import run_command_line
from edged.engine.device import list_devices
from tests.cli.command import NO_OPENCL, edged


def test_every_opencl_device_is_listed_with_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["devices", "--json"]) == 0

    devices = json.loads(capsys.readouterr().out)["devices"]

    assert [device["name"] for device in devices] == [device.name for device in list_devices()]
    assert all(device["compute_units"] >= 1 and isinstance(device["fp16"], bool) for device in devices)


def test_cameras_and_rails_are_told_or_why_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["devices"]) == 0

    text = capsys.readouterr().out

    assert "Cameras" in text
    assert "Power rails" in text


def test_without_an_opencl_runtime_it_says_what_to_install() -> None:
    done = edged("devices", env=NO_OPENCL)

    assert done.returncode == 0
    assert "apt install pocl-opencl-icd" in done.stdout
    assert "numpy" in done.stdout
