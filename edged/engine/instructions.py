"""The dot products of a CPU: instructions that multiply several small numbers and sum the products.

Linux lists in /proc/cpuinfo what the processor has and the system allows. Kernels reach them by inline assembly
alone: PoCL 3.1 compiles for a processor without them, and ends its process where a kernel calls the builtins.
"""

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

AVX512_VNNI = "avx512_vnni"  # vpdpbusd: four bytes without a sign by four with one, into int
AVX_VNNI = "avx_vnni"  # the same for vectors of up to 256 bits
AVX512_BF16 = "avx512_bf16"  # vdpbf16ps: two bfloat16 by two, into float
WANTED = (AVX512_VNNI, AVX_VNNI, AVX512_BF16)
NUMBERS = {AVX512_VNNI: 1, AVX_VNNI: 2, AVX512_BF16: 3}  # of DOT in `dot_products.cl`
LANES = {AVX512_VNNI: 16, AVX_VNNI: 8, AVX512_BF16: 16}  # numbers of 32 bits in a vector, at most
OF_BYTES = frozenset({AVX512_VNNI, AVX_VNNI})

CPUINFO = Path("/proc/cpuinfo")
FLAGS = re.compile(r"^flags\s*:(.*)$", re.MULTILINE)


@cache
def processor_instructions(cpuinfo: Path = CPUINFO) -> tuple[str, ...]:
    """Return those of `WANTED` that every processor of this machine has; none where Linux does not say so."""
    try:
        found = [set(flags.split()) for flags in FLAGS.findall(cpuinfo.read_text())]
    except OSError:
        return ()
    return tuple(name for name in WANTED if found and all(name in flags for flags in found))


def multiplies_bytes(instructions: Collection[str]) -> bool:
    """Return whether one of them multiplies bytes."""
    return not OF_BYTES.isdisjoint(instructions)
