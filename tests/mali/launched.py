"""A launch of a convolution, and statistics of its kernel, as a compiler for Bifrost would give them."""

from edged.engine.launch import Launch
from tools.mali.statistics import Statistics

WINDOW = {"KERNEL_H": 3, "KERNEL_W": 3, "SPAN": 16, "IN_BLOCK": 4}


def convolution(
    *, kernel: str = "conv_general", group: int = 64, items: int = 640, planes: int = 1, **defines: int
) -> Launch:
    return Launch(kernel, "up", {**WINDOW, **defines}, (), items=items, planes=planes, group=group)


def statistics(*, arith: float, ldst: float, loops: int = 0, spills: int = 0, fills: int = 0) -> Statistics:
    return Statistics({"arith": arith, "ldst": ldst, "loops": loops, "threads": 1}, spills, fills)
