"""Place the tensors of a plan in one arena, where tensors that are never needed together overlap, or share a slot.

The inputs of a `Concat` are written where its output lies, so that nothing is copied. Channels lie in blocks, one
behind the other: of a single frame, the blocks of a concatenation are those of its inputs in their order. Each
concatenation of a DenseNet's stage begins with the one before it, so that the whole stage becomes one tensor.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import PlanStep
from edged.engine.layout import Tensor
from edged.errors import ModelError
from edged.model.graph import Concat, Operator

Span = tuple[int, int]

MOST_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class Arena:
    """Byte offsets by tensor name, and the size of the whole.

    `slots`: the size of each slot by its offset, if tensors lie in slots that do not overlap.
    """

    offsets: Mapping[str, int]
    size: int
    slots: Mapping[int, int] = field(default_factory=dict)


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


def arrange_for(device: Device, spans: Mapping[Tensor, Span]) -> Arena:
    """Place the tensors as is best on `device`: in slots if its memory is its own, not that of the host."""
    has_own_memory = device.kind != "cpu" and not device.unified_memory
    return (arrange_in_slots if has_own_memory else arrange)(spans, device.alignment)


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


def arrange_in_slots(spans: Mapping[Tensor, Span], alignment: int) -> Arena:
    """Place the largest tensor first, each in a slot that is free for as long as it lives, or in a new one.

    "Greedy by size for shared objects" of the same paper. It takes more memory than `arrange`, but no two parts of
    the arena overlap: NVIDIA's driver keeps those that do apart, and copies between them for each launch.
    """
    slots: list[tuple[int, list[Tensor]]] = []
    for tensor in sorted(spans, key=lambda tensor: (-tensor.nbytes, tensor.name)):
        free = (held for _, held in slots if not any(_overlap(spans[tensor], spans[other]) for other in held))
        if held := next(free, None):
            held.append(tensor)
        else:
            slots.append((ceil_div(tensor.nbytes, alignment) * alignment, [tensor]))
    starts = list(accumulate((size for size, _ in slots), initial=0))
    placed = list(zip(starts, slots, strict=False))
    offsets = {tensor.name: start for start, (_, held) in placed for tensor in held}
    return Arena(offsets, starts[-1], {start: size for start, (size, _) in placed})


def _overlap(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _lowest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    start = 0
    for low, high in taken:
        if low - start >= size:
            break
        start = max(start, high)
    return start


@dataclass(frozen=True)
class Share:
    """Where a tensor lies: in the tensor named `whole`, from its channel `first` on."""

    whole: str
    first: int


Shares = Mapping[str, Share]

Tensors = Mapping[str, Tensor]


def find_shares(operators: Sequence[Operator], tensors: Tensors, apart: Collection[str]) -> dict[str, Share]:
    """Return the share of each tensor that may lie in another; those named in `apart` have memory of their own.

    The last concatenation is first: the inputs of an earlier one may lie in its output already.
    """
    shares: dict[str, Share] = {}
    for operator in reversed(operators):
        if not isinstance(operator, Concat) or operator.output in apart:
            continue
        taken = {share.whole for share in shares.values()} | set(apart)
        wanted = _wanted(operator, shares, tensors)
        comes_once = len(dict(wanted)) == len(wanted)
        if comes_once and all(_may_lie(name, share, shares, tensors, taken) for name, share in wanted):
            shares |= wanted
    return shares


def copies_nothing(operator: Operator, shares: Shares, tensors: Tensors) -> bool:
    """Return whether the operator is a concatenation whose inputs are all written where they belong."""
    if not isinstance(operator, Concat):
        return False
    return all(shares.get(name) == share for name, share in _wanted(operator, shares, tensors))


def _wanted(concat: Concat, shares: Shares, tensors: Tensors) -> list[tuple[str, Share]]:
    """Return the shares of the inputs by which nothing would have to be copied.

    They lie in the output, or where it lies. If all inputs lie side by side in another tensor already, so does the
    output, as the last of the list.
    """
    start = shares.get(concat.output) or Share(concat.output, 0)
    elsewhere = shares.get(concat.inputs[0], start)
    if concat.output not in shares and elsewhere.whole != concat.output:
        there = _side_by_side(concat, elsewhere, tensors)
        if all(shares.get(name) == share for name, share in there):
            return [*there, (concat.output, elsewhere)]
    return _side_by_side(concat, start, tensors)


def _side_by_side(concat: Concat, start: Share, tensors: Tensors) -> list[tuple[str, Share]]:
    firsts = accumulate((tensors[name].channels for name in concat.inputs), initial=start.first)
    return [(name, Share(start.whole, first)) for name, first in zip(concat.inputs, firsts, strict=False)]


def _may_lie(name: str, share: Share, shares: Shares, tensors: Tensors, taken: Collection[str]) -> bool:
    """Return whether a tensor may have this share: it fills whole blocks of an equal image, and lies nowhere else.

    `taken`: tensors that others lie in, or that must have memory of their own.
    """
    if name in shares:
        return shares[name] == share
    tensor, whole = tensors[name], tensors[share.whole]
    is_last = share.first + tensor.channels == whole.channels
    return (
        replace(tensor, name=whole.name, channels=whole.channels) == whole
        and tensor.frames == 1
        and share.first % tensor.block == 0
        and (tensor.channels % tensor.block == 0 or is_last)
        and name not in taken
    )


def with_equal_halos(tensors: Tensors, shares: Shares) -> dict[str, Tensor]:
    """Return the tensors such that all that lie in one have the halo that one of them needs."""
    halos = {share.whole: tensors[share.whole].halo for share in shares.values()}
    for name, share in shares.items():
        halos[share.whole] |= tensors[name].halo
    return {
        name: replace(tensor, halo=halos.get(shares[name].whole if name in shares else name, tensor.halo))
        for name, tensor in tensors.items()
    }


def offset_of(tensor: Tensor, share: Share) -> int:
    """Return the bytes from the beginning of the whole to a tensor that lies in it."""
    return share.first // tensor.block * (tensor.nbytes // tensor.blocks)


def aligned(shares: Shares, tensors: Tensors, alignment: int) -> dict[str, Share]:
    """Return the shares in those tensors of which all shares begin at multiples of `alignment` bytes."""
    crooked = {share.whole for name, share in shares.items() if offset_of(tensors[name], share) % alignment}
    return {name: share for name, share in shares.items() if share.whole not in crooked}


def of_wholes(spans: Mapping[Tensor, Span], shares: Shares, tensors: Tensors) -> dict[Tensor, Span]:
    """Return the spans of the tensors that need memory: from the first use of a share to the last one."""
    merged: dict[Tensor, Span] = {}
    for tensor, (first, last) in spans.items():
        whole = tensors[shares[tensor.name].whole] if tensor.name in shares else tensor
        begin, end = merged.get(whole, (first, last))
        merged[whole] = min(begin, first), max(end, last)
    return merged
