"""A step of Adam or AdamW."""

from edged.engine.device import Device
from edged.engine.gradients.update import update
from edged.engine.launch import Launch, Resident, Scalar

NUMBERS = ("rate", "root", "beta1", "beta2", "epsilon", "decay")


def adam(
    weights: Resident, gradients: Resident, moments: Resident, decayed: int, device: Device, *, decoupled: bool
) -> Launch:
    """Return a step of Adam over float32 arrays; `moments` is twice as long as the others.

    Scalars: NUMBERS, as `adam.cl` explains them.
    """
    return update(
        "adam",
        (weights, gradients, moments, *map(Scalar, NUMBERS)),
        decayed,
        weights.nbytes // 4,
        device,
        {"DECOUPLED": int(decoupled)},
    )
