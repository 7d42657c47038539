"""`edged devices`."""

import json
from pathlib import Path

import pytest

from edged import config
from edged.cli import run_command_line
from edged.engine.device import list_devices
from edged.model.model_part import whole_model
from edged.model.package import load_model
from edged.runtime import drivers
from edged.runtime.proven import open_proven
from tests.cli.command import NO_OPENCL, edged, edged_here
from tests.cli.models import small_network
from tests.energy.sysfs import jetson
from tests.engine.wrong_kernels import WRONG_VECTOR, wrong_kernel


def test_every_opencl_device_is_listed_with_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["devices", "--json"]) == 0

    devices = json.loads(capsys.readouterr().out)["devices"]

    assert [device["name"] for device in devices] == [device.name for device in list_devices()]
    assert all(device["compute_units"] >= 1 and isinstance(device["fp16"], bool) for device in devices)


@pytest.mark.deep
def test_a_device_is_shown_with_its_proofs_and_what_it_computes_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)
    model = load_model(config.ModelConfig(path=small_network(tmp_path / "small.onnx")))
    with wrong_kernel(WRONG_VECTOR):
        open_proven(whole_model(model), config.WorkerConfig(device="cpu")).runtime.close()

    assert run_command_line(["devices"]) == 0
    text = capsys.readouterr().out
    assert run_command_line(["devices", "--json"]) == 0
    devices = json.loads(capsys.readouterr().out)["devices"]

    assert f"agrees with the reference on small ({model.sha256[:12]}, " in text
    assert "computes wrongly, and is not used for: conv_vector for Conv 3×16×16 → 8×16×16" in text
    [device] = [device for device in devices if device["proofs"]]
    assert [proof["model"] for proof in device["proofs"]] == ["small"]
    assert [wrong["variant"] for wrong in device["wrong"]] == ["conv_vector"]


def test_cameras_and_rails_are_listed_or_why_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["devices"]) == 0

    text = capsys.readouterr().out

    assert "Cameras" in text
    assert "Power rails" in text


def test_without_an_opencl_runtime_it_says_what_to_install() -> None:
    done = edged("devices", env=NO_OPENCL)

    assert done.returncode == 0
    assert "apt install pocl-opencl-icd" in done.stdout
    assert "numpy" in done.stdout


@pytest.mark.deep
def test_each_rail_is_shown_with_its_live_watts_and_one_that_is_broken_with_the_reason(tmp_path: Path) -> None:
    folder = jetson(tmp_path)
    (folder / "curr3_input").write_text("N/A\n")

    found = json.loads(edged_here("devices", "--json", "--sysfs", tmp_path).stdout)
    text = edged_here("devices", "--sysfs", tmp_path).stdout

    watts = {rail["name"]: rail["watts"] for rail in found["rails"]}
    assert watts == pytest.approx({"VDD_CPU_GPU_CV": 1.127, "VDD_IN": 4.79}, rel=0.1)
    assert [rail["name"] for rail in found["unreadable_rails"]] == ["VDD_SOC"]
    assert "VDD_CPU_GPU_CV: 1.1" in text
    assert "VDD_SOC: not readable: no reading" in text
    assert "    see the kernel's log for its driver" in text


def test_a_driver_that_crashes_as_it_is_loaded_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "crashing_listing.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(drivers, "LISTING", "crashing_listing")
    config_file = tmp_path / "edged.yaml"
    config_file.write_text(
        "cameras: {desk: {source: 'synthetic:digits'}}\n"
        "model: {name: digits}\n"
        "workers: [{device: auto}, {device: numpy}]\n"
    )
    ended = "its process was killed by SIGABRT (a driver crashes)"
    crash = f"the OpenCL devices cannot be listed: {ended}; {drivers.REMEDY}"

    assert run_command_line(["devices"]) == 0
    assert f"\n  {crash}\n" in capsys.readouterr().out

    run_command_line(["check", str(config_file), "--json"])
    findings = {each["what"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert (findings["worker 0"]["level"], findings["worker 0"]["text"]) == ("warning", f"device auto: {crash}")
    assert findings["worker 1"]["text"] == "numpy: NumPy; runs the model"
