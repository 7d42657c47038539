"""Trials of a processor's dot products."""

from dataclasses import replace
from pathlib import Path

import pytest

from edged.engine import instruction_trials
from edged.engine.device import Device
from edged.engine.instruction_trials import RIGHT, trials, with_instructions
from edged.engine.instructions import AVX512_VNNI, KHR_DOT, processor_instructions

CPUINFO = """processor : 0
flags : fpu sse2 avx2 avx512_vnni avx_vnni
bogomips : 5000.00

processor : 1
flags : fpu sse2 avx2 avx512_vnni
bogomips : 5000.00
"""


@pytest.fixture
def device(own_device: Device) -> Device:
    """A device whose compiler is trusted with what others may crash at."""
    return replace(own_device, kind="cpu", platform="Portable Computing Language")


def test_only_what_every_processor_has_is_offered(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(CPUINFO)

    assert processor_instructions(cpuinfo) == (AVX512_VNNI,)
    assert processor_instructions(tmp_path / "none") == ()


def test_a_device_of_another_kind_is_not_tried(device: Device, tmp_path: Path) -> None:
    assert trials(replace(device, kind="gpu", integer_dot=False), tmp_path) == {}
    assert trials(replace(device, platform="rusticl", integer_dot=False), tmp_path) == {}


def test_a_device_whose_driver_has_dot_products_is_tried(device: Device, tmp_path: Path) -> None:
    found = trials(replace(device, kind="gpu", integer_dot=True), tmp_path)

    assert tuple(found) == (KHR_DOT,)


def test_an_instruction_that_the_compiler_does_not_know_is_left_out_with_its_reason(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instruction_trials, "processor_instructions", lambda: ("avx9000",))

    found = trials(device, tmp_path)

    assert found["avx9000"].startswith(f"{device.name}: no use of avx9000: ")
    assert with_instructions(device, tmp_path).instructions == ()


def test_nothing_is_tried_on_a_driver_that_is_known_to_end_at_assembly(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instruction_trials, "processor_instructions", lambda: ("avx9000",))
    monkeypatch.setattr(instruction_trials, "run_apart", lambda *_: pytest.fail("it was tried"))

    found = trials(replace(device, driver="6.0+debian"), tmp_path)

    assert found["avx9000"].endswith(
        "no use of avx9000: its driver, 6.0+debian, ends the process at inline assembly"
    )


def test_what_was_found_is_kept(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_trials, "processor_instructions", lambda: ("avx9000",))
    first = trials(device, tmp_path)
    monkeypatch.setattr(instruction_trials, "MODULE", "there.is.none")

    assert trials(device, tmp_path) == first
    assert trials(replace(device, driver="another"), tmp_path) != first


FAILS_ONCE = """
import sys
from pathlib import Path

seen = Path(__file__).with_name("seen")
is_first = not seen.exists()
seen.touch()
sys.exit("killed for want of memory" if is_first else 0)
"""


def test_a_trial_that_failed_once_is_repeated(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fails_once.py").write_text(FAILS_ONCE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(instruction_trials, "MODULE", "fails_once")
    monkeypatch.setattr(instruction_trials, "processor_instructions", lambda: ("avx9000",))

    takes_assembly = replace(device, driver="3.1")  # of PoCL from 4 on, and of others, none is tried

    assert trials(takes_assembly, tmp_path / "cache") == {"avx9000": RIGHT}
