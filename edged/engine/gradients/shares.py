"""Distribute sums over a batch, the gradients of weights, among shares of its rows: each has sums of its own."""

from dataclasses import replace
from typing import Any

from edged.arithmetic import ceil_div
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Launch
from edged.engine.layout import Tensor
from edged.engine.variants.variant import WORK_GROUP

SHARE_BYTES = 2**19  # of activations and gradients that a share reads repeatedly: a part of a CPU's own cache
ITEMS_PER_UNIT = 16  # work-groups that keep a compute unit busy to the end
PARTS_BYTES = 2**25  # that the partial sums of all shares may take
RUN_LENGTH = 32  # vectors that a work-item of `sum_shares` adds


def in_shares(slope: Slope[Any], by_share: Launch, weights: int) -> tuple[Launch, ...]:
    """Return `by_share`, launched for each share of all frames' rows, and the launch that adds their sums.

    by_share: reads `source` and `given` and writes `weights` vectors and the bias; its kernel takes SHARES.
    """
    given, name = slope.given, slope.operator.name
    shares = _count(slope, by_share.items * given.blocks, weights * given.block * 4)
    defines = {**by_share.defines, "FRAMES": given.frames, "SHARES": shares}
    gradients = slope.gradients["weight"], slope.gradients["bias"]
    launch = replace(by_share, defines=defines, frames_last=True, frames=shares)
    if shares == 1:
        return (replace(launch, arguments=(*by_share.arguments, *gradients)),)
    parts = [
        Tensor(f"{name}:{role}", shares, count * given.block, 1, 1, 1)
        for role, count in (("weights", weights), ("bias", given.blocks))
    ]
    runs = ceil_div(weights + given.blocks, RUN_LENGTH)
    counts = {"SHARES": shares, "WEIGHTS": weights, "BIASES": given.blocks, "RUN_LENGTH": RUN_LENGTH}
    return replace(launch, arguments=(*by_share.arguments, *parts)), Launch(
        kernel="sum_shares",
        operator=name,
        defines={**given.defines("OUT"), **counts},
        arguments=(*parts, *gradients),
        items=runs,
        group=group(slope, runs),
    )


def _count(slope: Slope[Any], items: int, weight_bytes: int) -> int:
    """Return the number of shares of all frames' rows: each fits into the cache, and the whole device is busy."""
    rows = slope.given.frames * slope.given.height
    for_cache = ceil_div(slope.source.nbytes + slope.given.nbytes, SHARE_BYTES)
    for_units = ceil_div(ITEMS_PER_UNIT * slope.device.compute_units, items)
    return max(1, min(max(for_cache, for_units), rows, PARTS_BYTES // weight_bytes))


def group(slope: Slope[Any], items: int) -> int:
    """Return the size of work-groups for a launch of `items`."""
    return 1 if slope.device.kind == "cpu" else min(WORK_GROUP, items)
