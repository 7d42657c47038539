"""What the tests of the hub share."""

from pathlib import Path

import pytest

from edged.model.head_versions import teach_folder


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the daemon of a test looks for what it was taught."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return teach_folder("test")
