"""`edged devices`."""

import json
from pathlib import Path

import pytest

from edged.cli import run_command_line
from edged.engine.device import list_devices
from tests.cli.command import NO_OPENCL, edged
from tests.energy.sysfs import jetson


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


def test_each_rail_is_shown_with_its_live_watts_and_one_that_is_broken_with_the_reason(tmp_path: Path) -> None:
    folder = jetson(tmp_path)
    (folder / "curr3_input").write_text("N/A\n")

    found = json.loads(edged("devices", "--json", "--sysfs", tmp_path).stdout)
    text = edged("devices", "--sysfs", tmp_path).stdout

    watts = {rail["name"]: rail["watts"] for rail in found["rails"]}
    assert watts == pytest.approx({"VDD_CPU_GPU_CV": 1.127, "VDD_IN": 4.79}, rel=0.1)
    assert [rail["name"] for rail in found["unreadable_rails"]] == ["VDD_SOC"]
    assert "VDD_CPU_GPU_CV: 1.1" in text
    assert "VDD_SOC: not readable: no reading" in text
    assert "    see the kernel's log for its driver" in text
