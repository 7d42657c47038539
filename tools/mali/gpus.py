"""The GPUs that Mesa compiles for, and the units by which its compilers count cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from edged.errors import ConfigError


@dataclass(frozen=True)
class Driver:
    """A driver of Mesa, by its name in RUSTICL_ENABLE.

    `library`: what answers in the place of its kernel driver; `gpu`: the variable by which that library knows
    which of its GPUs is meant; `printing`: those by which the compiler prints what it counts.
    """

    name: str
    library: str
    gpu: str
    printing: tuple[str, ...]


PANFROST = Driver(
    "panfrost", "panfrost", "PAN_GPU_ID", ("BIFROST_MESA_DEBUG=shaderdb", "MIDGARD_MESA_DEBUG=shaderdb")
)
V3D_42 = Driver("v3d", "v3d42", "", ("V3D_DEBUG=shaderdb",))
V3D_71 = Driver("v3d", "v3d71", "", ("V3D_DEBUG=shaderdb",))
FREEDRENO = Driver("freedreno", "freedreno", "FD_GPU_ID", ("IR3_SHADER_DEBUG=cs",))


@dataclass(frozen=True)
class Architecture:
    """A family of GPUs.

    `units`: what its compiler counts of a work-item, each with the name of its column: the statistic "arith" of
    Bifrost is cycles in which arithmetic is issued. `cycles`: of a core, that one of what is counted takes for a
    work-item. `lanes`: work-items that execute one instruction together.
    """

    name: str
    driver: Driver
    units: Mapping[str, str]
    lanes: int
    cycles: float = 1.0


# One bundle of up to five instructions a cycle; its compiler does not count what keeps which unit busy.
MIDGARD = Architecture("Midgard", PANFROST, MappingProxyType({"bundles": "bundles"}), lanes=1)
BIFROST = Architecture(
    "Bifrost", PANFROST, MappingProxyType({"arith": "arithmetic", "ldst": "load/store"}), lanes=8
)
VALHALL = Architecture(
    "Valhall",
    PANFROST,
    MappingProxyType({"fma": "FMA", "cvt": "CVT", "sfu": "SFU", "ls": "load/store"}),
    lanes=16,
)
# A processor takes four cycles for an instruction of sixteen work-items; there are eight and twelve of them, which
# the driver calls one core.
WORDS = MappingProxyType({"inst-and-stalls": "instructions"})
VIDEOCORE_6 = Architecture("VideoCore VI", V3D_42, WORDS, lanes=16, cycles=4 / 16 / 8)
VIDEOCORE_7 = Architecture("VideoCore VII", V3D_71, WORDS, lanes=16, cycles=4 / 16 / 12)
# Of its cores edged knows nothing: an instruction is taken for a cycle of 64 work-items.
ADRENO_6 = Architecture(
    "Adreno 6xx", FREEDRENO, MappingProxyType({"instr": "instructions"}), lanes=64, cycles=1 / 64
)


@dataclass(frozen=True)
class Gpu:
    """A GPU by its name in `--gpu`, with the number by which its driver's library knows it."""

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
        Gpu("v3d42", "", VIDEOCORE_6),  # Raspberry Pi 4
        Gpu("v3d71", "", VIDEOCORE_7),  # Raspberry Pi 5
        Gpu("a630", "630", ADRENO_6),
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
