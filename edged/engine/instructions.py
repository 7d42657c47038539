"""The dot products of a device: instructions that multiply several small numbers and sum the products.

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
ARM_I8MM = "i8mm"  # usdot of Arm: four bytes without a sign by four with one, into int
ARM_DOT = "asimddp"  # sdot of Arm: four bytes by four, all with a sign, into int
KHR_DOT = "cl_khr_integer_dot_product"  # functions of OpenCL, as drivers of GPUs have them, for such bytes
WANTED = (AVX512_VNNI, AVX_VNNI, AVX512_BF16, ARM_I8MM, ARM_DOT)
# of DOT in `dot_products.cl`
NUMBERS = {AVX512_VNNI: 1, AVX_VNNI: 2, AVX512_BF16: 3, ARM_DOT: 4, ARM_I8MM: 5, KHR_DOT: 6}
# of 32 bits in a vector, at most
LANES = {AVX512_VNNI: 16, AVX_VNNI: 8, AVX512_BF16: 16, ARM_DOT: 4, ARM_I8MM: 4, KHR_DOT: 16}
OF_BYTES = (AVX512_VNNI, AVX_VNNI, ARM_I8MM, ARM_DOT, KHR_DOT)  # the best first
LOWEST = {ARM_DOT: -128}  # of the bytes that are multiplied by the weights, where it is not 0

CPUINFO = Path("/proc/cpuinfo")
FLAGS = re.compile(r"^(?:flags|Features)\s*:(.*)$", re.MULTILINE)  # as of x86, and of Arm


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
    return not set(OF_BYTES).isdisjoint(instructions)
