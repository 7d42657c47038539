"""The section `mqtt`."""

from pathlib import Path

import pytest

from edged.config.load import load_config
from edged.errors import ConfigError


def written(folder: Path, mqtt: str) -> Path:
    path = folder / "edged.yaml"
    cameras = "{gate.1: {source: 'synthetic:digits'}, gate_1: {source: 'synthetic:digits'}}"
    path.write_text(f"cameras: {cameras}\nmqtt: {mqtt}\n")
    return path


def test_cameras_that_are_one_in_home_assistant_are_refused_unless_it_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mqtt: the cameras gate\.1 and gate_1 have one name in Home Assistant"):
        load_config(written(tmp_path, "{address: 'mqtt://127.0.0.1:1883'}"))
    config = load_config(written(tmp_path, "{address: 'mqtt://127.0.0.1:1883', discovery: null}"))
    assert list(config.cameras) == ["gate.1", "gate_1"]


def test_the_class_of_a_binary_sensor_is_for_two_labels(tmp_path: Path) -> None:
    states = "states: {door: {labels: [open, half, closed], device_class: door}}\n"
    path = tmp_path / "edged.yaml"
    path.write_text("cameras: {door: {source: 'synthetic:digits'}}\n" + states)
    with pytest.raises(ConfigError, match=r"states\.door\.device_class: is for two labels"):
        load_config(path)
