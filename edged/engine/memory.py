"""Place the tensors of a plan in one arena, where tensors that are never needed together overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edged.arithmetic import ceil_div
from edged.engine.launch import PlanStep
from edged.engine.layout import Tensor
from edged.errors import ModelError

Span = tuple[int, int]

MOST_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class Arena:
    """Byte offsets by tensor name, and the size of the whole."""

    offsets: Mapping[str, int]
    size: int


def lifetimes(launches: Sequence[PlanStep]) -> dict[Tensor, Span]:
    """Return the first and last launch that uses each tensor."""
    spans: dict[Tensor, Span] = {}
    for index, launch in enumerate(launches):
        for tensor in launch.tensors:
            first, _ = spans.get(tensor, (index, index))
            spans[tensor] = (first, index)
    return spans


def check_indices(name: str, launches: Sequence[PlanStep]) -> None:
    """Raise ModelError if a tensor of the network `name` has more elements than a kernel's `int` can count."""
    for tensor in lifetimes(launches):
        elements = tensor.nbytes // tensor.dtype.itemsize
        if elements > MOST_ELEMENTS:
            raise ModelError(
                f"{name}: the tensor {tensor.name} would hold {elements} values for a batch of {tensor.frames}; "
                f"kernels count up to {MOST_ELEMENTS}: use a smaller batch or a smaller input size"
            )


def arrange(spans: Mapping[Tensor, Span], alignment: int) -> Arena:
    """Place the largest tensor first, each at the lowest offset that is free for as long as it lives.

    "Greedy by size" of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
    """
    placed: dict[Tensor, tuple[int, int]] = {}
    for tensor in sorted(spans, key=lambda tensor: (-tensor.nbytes, tensor.name)):
        taken = sorted(place for other, place in placed.items() if _overlap(spans[tensor], spans[other]))
        size = ceil_div(tensor.nbytes, alignment) * alignment
        start = _lowest_gap(taken, size)
        placed[tensor] = (start, start + size)
    size = max((end for _, end in placed.values()), default=0)
    return Arena({tensor.name: start for tensor, (start, _) in placed.items()}, size)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _lowest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    start = 0
    for low, high in taken:
        if low - start >= size:
            break
        start = max(start, high)
    return start
