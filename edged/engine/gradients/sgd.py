"""A step of stochastic gradient descent."""

from edged.engine.device import Device
from edged.engine.gradients.update import update
from edged.engine.launch import Launch, Resident, Scalar


def sgd(
    weights: Resident,
    gradients: Resident,
    velocity: Resident | None,
    decayed: int,
    device: Device,
    *,
    nesterov: bool,
) -> Launch:
    """Return a step of SGD over float32 arrays of one length. Without a velocity there is no momentum.

    Scalars: rate, decay, momentum.
    """
    remembered = (velocity, Scalar("momentum")) if velocity else ()
    return update(
        "sgd",
        (weights, gradients, Scalar("rate"), Scalar("decay"), *remembered),
        decayed,
        weights.nbytes // 4,
        device,
        {"MOMENTUM": int(velocity is not None), "NESTEROV": int(nesterov)},
    )
