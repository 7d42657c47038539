"""Launches that change every weight: a step of SGD or Adam, and the moving average of the weights."""

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Argument, Launch, Resident, Scalar
from edged.engine.layout import Defines
from edged.engine.variants.variant import WORK_GROUP

CHUNK = 4096  # floats that a CPU's work-item updates: enough to amortise its start
NUMBERS = ("rate", "root", "beta1", "beta2", "epsilon", "decay")


def update(
    kernel: str, arguments: tuple[Argument, ...], decayed: int, count: int, device: Device, how: Defines
) -> Launch:
    """Return a launch over `count` weights, of which the first `decayed` decay."""
    chunk = CHUNK if device.kind == "cpu" else 1
    return Launch(
        kernel=kernel,
        operator="update",
        defines={"COUNT": count, "DECAYED": decayed, "CHUNK": chunk, **how},
        arguments=arguments,
        items=ceil_div(count, chunk),
        group=1 if device.kind == "cpu" else WORK_GROUP,
    )


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


def moving_average(weights: Resident, averages: Resident, device: Device) -> Launch:
    """Update float32 averages of one length. Scalar: kept, the share of the old average that stays."""
    return update("moving_average", (weights, Scalar("kept"), averages), 0, weights.nbytes // 4, device, {})
