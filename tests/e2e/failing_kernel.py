"""Kernels that fail when a test says so, in workers that are started for that."""

from collections.abc import Callable
from pathlib import Path

import pytest


def breakable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the workers of daemons started from now on meet a fault when the returned function is called."""
    pytest.importorskip("pyopencl")
    trigger = folder / "fault"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "endless_kernel"), prepend=":")
    monkeypatch.setenv("EDGED_TEST_FAULT", str(trigger))

    def inject(fault: str) -> None:
        trigger.with_suffix(".new").write_text(fault)
        trigger.with_suffix(".new").rename(trigger)

    return inject
