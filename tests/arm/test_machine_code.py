"""What PoCL's compiler makes of the convolution for an Arm processor, by its disassembly."""

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.arm.emulated import on_arm

pytestmark = pytest.mark.deep

OBJDUMP = "aarch64-linux-gnu-objdump"
INSTRUCTION = re.compile(r" *([0-9a-f]+):\t[0-9a-f]{8} \t(.*)")
BACK = re.compile(r"(?:b\.\w+|cbn?z\t\w+,|tbn?z\t.*,)\s*([0-9a-f]+) <")
MULTIPLY_ADD = re.compile(r"fmla\tv\d+\.4s")
REGISTERS = 32  # of 4 numbers


@pytest.fixture(scope="module")
def programs() -> dict[int, bytes]:
    """By the numbers of a vector in their source."""
    if not shutil.which(OBJDUMP):
        pytest.skip("no Arm emulation: binutils-aarch64-linux-gnu is not installed")
    lines = on_arm("python3", "-m", "tests.arm.convolution", "4", "8", features="").splitlines()
    return dict(zip((4, 8), map(base64.b64decode, lines), strict=True))


@pytest.mark.parametrize(("block", "registers_each"), [(4, 1), (8, 2)])
def test_the_inner_loop_multiplies_and_adds_vectors_alone(
    programs: dict[int, bytes], tmp_path: Path, block: int, registers_each: int
) -> None:
    loops = [
        loop for loop in innermost_loops(disassembled(programs[block], tmp_path)) if "fmla" in "\n".join(loop)
    ]

    assert loops
    for loop in loops:
        multiplied = [line for line in loop if MULTIPLY_ADD.match(line)]
        others = [line for line in loop if line not in multiplied]
        assert len(multiplied) % registers_each == 0
        assert REGISTERS // 4 <= len(multiplied) < REGISTERS  # of a whole tile: most registers hold sums
        assert not [line for line in others if re.match(r"f(?:n?m(?:add|sub|ul)|add|sub|mla)\b", line)], loop
        assert not [line for line in others if re.match(r"blr?\b|str|stp|stur", line)], loop  # no call, no spill


def disassembled(program: bytes, folder: Path) -> list[tuple[int, str]]:
    """Address and text of each instruction: PoCL keeps a shared library in its binaries."""
    library = folder / "library.so"
    library.write_bytes(program[program.index(b"\x7fELF") :])
    done = subprocess.run([OBJDUMP, "-d", library], check=True, capture_output=True, text=True)
    found = map(INSTRUCTION.fullmatch, done.stdout.splitlines())
    return [(int(each[1], 16), each[2]) for each in found if each]


def innermost_loops(code: list[tuple[int, str]]) -> Iterator[list[str]]:
    """The instructions of each loop that holds no other one, the branch back to its start included."""
    jumps = [(int(match[1], 16), at) for at, text in code if (match := BACK.match(text))]
    loops = sorted((end, start) for start, end in jumps if start <= end)
    for (before, _), (end, start) in pairwise([(-1, 0), *loops]):
        if before < start:
            yield [text for at, text in code if start <= at <= end]
