"""Errors of a network with several outputs, of which each has a range of its own."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.engine.agreement import Agreement
from edged.engine.device import Device
from edged.engine.selection import Rules
from edged.model.model_part import ModelPart, part_of, whole_model
from edged.model.package import load_model
from tests.model.detectors import detector_file

SCORES = 84 * 4  # values of the first output of `ssd`; its boxes follow


def part(folder: Path) -> ModelPart:
    return whole_model(load_model(config.ModelConfig(path=detector_file(folder / "net.onnx", "ssd"))))


def test_an_error_is_a_share_of_the_range_of_its_own_output(tmp_path: Path, device: Device) -> None:
    agreement = Agreement(part(tmp_path), device, batch=1, precision="fp32", chooser=Rules())
    expected = np.linspace(0, 1, 84 * 8, dtype=np.float32)[np.newaxis]
    expected[:, SCORES:] *= 640  # pixels beside scores
    found = expected.copy()
    found[0, 5] += 0.1

    error = agreement.outputs(found, expected)

    assert error == pytest.approx(0.1 / expected[0, :SCORES].max())


def test_where_the_outputs_begin(tmp_path: Path) -> None:
    whole = part(tmp_path)

    assert whole.output_begins == (0, SCORES)
    assert part_of(whole.of_model(), None, "conv_0").output_begins == (0,)
