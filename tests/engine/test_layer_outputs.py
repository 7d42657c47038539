"""What each layer gives on a device."""

from pathlib import Path

from edged.engine.device import Device
from edged.engine.layer_outputs import LayerOutputs
from edged.engine.planner import RULES
from edged.model import reference
from tests.engine.lab import assert_close
from tests.engine.networks import RGB, random_images, small_network


def test_every_tensor_is_that_of_the_reference(device: Device, programs_directory: Path) -> None:
    network, image = small_network(), random_images(RGB)
    outputs = LayerOutputs(network, RGB, device, "fp32", RULES, programs_directory)

    found = outputs.compute(image)

    expected = reference.run_all(network, reference.prepare(image, RGB))
    assert found.keys() == expected.keys()
    assert outputs.output == network.output
    for name, tensor in found.items():
        assert_close(tensor.reshape(expected[name].shape), expected[name], 1e-4)
