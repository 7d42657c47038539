"""The networks that have names run on a device."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.model_part import ModelPart
from edged.model.package import load_model
from tests.engine.lab import assert_close
from tests.engine.networks import random_images

CLOSE = 1e-4  # of the range of the scores


@pytest.mark.deep
@pytest.mark.parametrize("name", ["googlenet", "mobilenetv3_large", "efficientnet_lite0", "regnet_y_400mf"])
def test_each_gives_the_scores_of_the_reference(
    network_device: Device, programs_directory: Path, name: str
) -> None:
    model = load_model(config.ModelConfig(name=name, size=96))
    runtime = Runtime(ModelPart(model.graph, model.input), network_device, cache=programs_directory)
    images = random_images(model.input, 1)

    outputs = runtime.submit(images).wait().outputs

    expected = reference.run(model.graph, reference.prepare(images, model.input), np.float64)
    assert_close(outputs, expected, CLOSE)
