"""No test of energy is decided by how slow the machine is."""

import pytest

from tests.energy.time_limit import passes_at_pipes_alone


@pytest.fixture(autouse=True)
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limits, in seconds, that files have exceeded so far: those that block, and no others."""
    return passes_at_pipes_alone(monkeypatch)
