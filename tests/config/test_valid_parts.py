"""What is left of a config with mistakes."""

from pathlib import Path

import pytest

from edged.config import Config
from edged.config.load import ConfigSource
from edged.config.valid_parts import ValidParts, valid_parts


def parts_of(folder: Path, text: str) -> ValidParts:
    file = folder / "edged.yaml"
    file.write_text(text)
    return valid_parts(ConfigSource(file))


@pytest.mark.parametrize("section", Config.model_fields)
def test_a_wrong_section_is_left_out_and_the_others_stay(tmp_path: Path, section: str) -> None:
    cameras = "cameras: {demo: {source: 0}}\n" * (section != "cameras")

    parts = parts_of(tmp_path, f"{cameras}{section}: [[3]]\n")

    assert not parts.is_whole
    assert len(parts.mistakes) == 1
    assert not parts.has(section, "worker 0")
    assert parts.has(*Config.model_fields.keys() - {section})


def test_the_other_entries_of_a_section_stay_and_keep_their_numbers(tmp_path: Path) -> None:
    cameras = "cameras: {door: {source: -1}, gate: {source: 0}}\n"

    parts = parts_of(tmp_path, cameras + "workers: [{device: cpu}, {devise: gpu}, {device: numpy}]\n")

    assert list(parts.config.cameras) == ["gate"]
    assert parts.has("camera gate", "worker 0", "worker 2")
    assert not parts.has("camera door")
    assert not parts.has("worker 1")
    assert parts.config.workers[0].device == "cpu"


def test_a_config_in_order_is_whole(tmp_path: Path) -> None:
    assert parts_of(tmp_path, "cameras: {demo: {source: 0}}\n").is_whole


def test_a_state_whose_camera_is_wrong_is_no_mistake_of_its_own(tmp_path: Path) -> None:
    text = "cameras: {door: {source: -1}}\nstates: {door: {labels: [open]}}\n"

    [mistake] = parts_of(tmp_path, text).mistakes

    assert "cameras.door.source" in mistake
