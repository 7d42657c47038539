"""Kernels of a profile, put together by the layer that they compute."""

from collections.abc import Iterable, Sequence

from edged.engine.launch_cost import LaunchCost
from edged.engine.profile import KernelProfile

Kernels = Sequence[KernelProfile]


def by_layer(kernels: Kernels) -> list[KernelProfile]:
    """One for each operator, or fused operators, in order: its kernels as if they were one."""
    names = dict.fromkeys(kernel.cost.operator for kernel in kernels)
    return [_merged([kernel for kernel in kernels if kernel.cost.operator == name]) for name in names]


def side_by_side(first: Kernels, second: Kernels) -> list[tuple[KernelProfile, KernelProfile]]:
    """Two plans of one graph, layer by layer. What one of them has fused is one layer of both."""
    pairs = {}
    for group in _groups([*first, *second]):
        one, other = _of(group, first), _of(group, second)
        if one and other:
            pairs[first.index(one[0])] = _merged(one), _merged(other)
    return [pair for _, pair in sorted(pairs.items(), key=lambda item: item[0])]


def _of(group: set[str], kernels: Kernels) -> Kernels:
    return [kernel for kernel in kernels if group & set(kernel.cost.operators)]


def _groups(kernels: Iterable[KernelProfile]) -> list[set[str]]:
    """The smallest sets of operators that no kernel computes only in part."""
    groups: list[set[str]] = []
    for kernel in kernels:
        names = set(kernel.cost.operators)
        touching = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names] + [names.union(*touching)]
    return groups


def _merged(kernels: Kernels) -> KernelProfile:
    """Named after the kernel that has most to compute."""
    main = max(kernels, key=lambda kernel: (kernel.cost.macs, kernel.seconds))
    macs, nbytes = sum(kernel.cost.macs for kernel in kernels), sum(kernel.cost.nbytes for kernel in kernels)
    operator = "+".join(dict.fromkeys(kernel.cost.operator for kernel in kernels))
    cost = LaunchCost(operator, main.cost.kernel, macs, nbytes)
    return KernelProfile(cost, sum(kernel.seconds for kernel in kernels))
