"""The Mali GPUs that Mesa compiles for, and the units by which its compilers count cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from edged.errors import ConfigError


@dataclass(frozen=True)
class Architecture:
    """A family of Mali GPUs.

    `units`: what its compiler counts of a work-item, each with the name of its column: the statistic "arith" of
    Bifrost is cycles in which arithmetic is issued. `lanes`: work-items that execute one instruction together.
    """

    name: str
    units: Mapping[str, str]
    lanes: int


# One bundle of up to five instructions a cycle; its compiler does not count what keeps which unit busy.
MIDGARD = Architecture("Midgard", MappingProxyType({"bundles": "bundles"}), lanes=1)
BIFROST = Architecture("Bifrost", MappingProxyType({"arith": "arithmetic", "ldst": "load/store"}), lanes=8)
VALHALL = Architecture(
    "Valhall", MappingProxyType({"fma": "FMA", "cvt": "CVT", "sfu": "SFU", "ls": "load/store"}), lanes=16
)


@dataclass(frozen=True)
class Gpu:
    """A GPU by its name in `--gpu`, with the hexadecimal number by which Mesa's test library plays its part."""

    name: str
    product: str
    architecture: Architecture


GPUS = {
    gpu.name: gpu
    for gpu in (
        Gpu("t620", "620", MIDGARD),  # T624, too
        Gpu("t760", "750", MIDGARD),
        Gpu("t860", "860", MIDGARD),
        Gpu("g52", "7212", BIFROST),
        Gpu("g76", "7211", BIFROST),
        Gpu("g57", "9091", VALHALL),
        Gpu("g310", "ac74", VALHALL),
        Gpu("g610", "a867", VALHALL),
    )
}


def gpus_named(names: Sequence[str]) -> tuple[Gpu, ...]:
    """Return the GPUs of these names. Raises ConfigError, which lists all."""
    unknown = [name for name in names if name not in GPUS]
    if unknown:
        raise ConfigError(
            f"--gpu: {unknown[0]!r} is no GPU that can be compiled for; use some of {','.join(GPUS)}"
        )
    return tuple(GPUS[name] for name in names)
