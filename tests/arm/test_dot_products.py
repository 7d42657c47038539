"""The dot products of Arm processors, emulated by QEMU: the same bits, or left out with the reason."""

import re

import pytest

from edged.engine.instructions import ARM_DOT, ARM_I8MM
from tests.arm.emulated import on_arm

pytestmark = pytest.mark.deep


def test_both_instructions_give_the_bits_of_the_reference() -> None:
    tests = "tests/engine/test_quantized_dot.py"
    chosen = f"({ARM_DOT} or {ARM_I8MM}) and (exact and 4- or tile)"
    pytest_there = ("python3", "-m", "pytest", "-v", "-p", "no:cacheprovider", "-n", "1", tests, "-k", chosen)

    written = on_arm(*pytest_there, features=f"{ARM_DOT} {ARM_I8MM}")

    for name in (ARM_DOT, ARM_I8MM):
        assert len(re.findall(rf"PASSED .*{name}", written)) > 10


def test_a_processor_without_them_is_found_out() -> None:
    written = on_arm(
        *("python3", "-m", "edged", "devices"), features=ARM_DOT, environment={"QEMU_CPU": "cortex-a57"}
    )

    assert f"no use of {ARM_DOT}: the driver ended its process by SIGILL" in written


def test_a_processor_with_one_of_them_uses_it() -> None:
    written = on_arm(
        *("python3", "-m", "edged", "devices"), features=ARM_DOT, environment={"QEMU_CPU": "cortex-a76"}
    )

    assert f"multiplies small numbers by {ARM_DOT}" in written
