"""The moving average of all weights, which varies less than they do."""

from edged.engine.device import Device
from edged.engine.gradients.update import update
from edged.engine.launch import Launch, Resident, Scalar


def moving_average(weights: Resident, averages: Resident, device: Device) -> Launch:
    """Update float32 averages of one length. Scalar: kept, the share of the old average that stays."""
    return update("moving_average", (weights, Scalar("kept"), averages), 0, weights.nbytes // 4, device, {})
