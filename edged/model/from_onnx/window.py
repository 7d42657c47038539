"""Read the windows of Conv and the pools: kernel, strides and pads."""

from edged.arithmetic import ceil_div
from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import NO_PADS, InvalidNodeError
from edged.model.graph import Pads, Pair

MAX_STEP = 2**16  # largest kernel, stride, dilation or pad


def pair(node: OnnxNode, name: str, default: Pair | None) -> Pair:
    numbers = node.integers(name) or default
    if numbers is None:
        raise ModelError(f"attribute {name} is missing")
    first, second = _numbers(node, name, numbers, 2, least=1)
    return first, second


def padding(node: OnnxNode, size: Pair, extent: Pair, strides: Pair) -> Pads:
    """Return explicit pads, or those of `auto_pad` (ONNX operator specification, Conv)."""
    auto = node.text("auto_pad", "NOTSET")
    if auto == "NOTSET":
        pads = _numbers(node, "pads", node.integers("pads") or NO_PADS, 4, least=0)
        return pads[0], pads[1], pads[2], pads[3]
    if auto == "VALID":
        return NO_PADS
    if auto not in {"SAME_UPPER", "SAME_LOWER"}:
        raise ModelError(f"attribute auto_pad is {auto}; supported are NOTSET, SAME_UPPER, SAME_LOWER and VALID")
    totals = [(ceil_div(size[i], strides[i]) - 1) * strides[i] + extent[i] - size[i] for i in (0, 1)]
    if min(totals) < -1:  # half of it would be cut off at the beginning
        raise InvalidNodeError(f"attribute auto_pad is {auto} with strides {strides} beyond the window {extent}")
    totals = [max(0, total) for total in totals]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    if auto == "SAME_LOWER":
        less, more = more, less
    return less[0], less[1], more[0], more[1]


def last_window(size: int, kernel: int, stride: int, before: int, after: int) -> int:
    """Return the padding for one more, partial window; none if that window would begin beyond the image."""
    left_over = (size + before + after - kernel) % stride
    begin = size + before + after - kernel - left_over + stride
    return stride - left_over if left_over and begin < size + before else 0


def _numbers(node: OnnxNode, name: str, numbers: tuple[int, ...], count: int, least: int) -> tuple[int, ...]:
    if len(numbers) != count or not all(least <= number <= MAX_STEP for number in numbers):
        raise ModelError(
            f"attribute {name} is {numbers}; supported are {count} numbers from {least} to {MAX_STEP}"
        )
    return numbers


def sum_of(*several: Pads) -> Pads:
    """Add pads element by element."""
    top, left, bottom, right = (sum(side) for side in zip(*several, strict=True))
    return top, left, bottom, right
