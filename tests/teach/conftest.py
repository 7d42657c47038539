"""A folder for what is taught."""

import os
from pathlib import Path

import pytest

from edged import exclusive
from edged.taught import teach_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the node `test`, in a state directory of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return teach_folder("test")


@pytest.fixture(autouse=True)
def _locks_end_with_the_test() -> object:
    """As they would with the process."""
    yield
    for path in [path for path in exclusive._held if path.name.startswith("teach-")]:
        os.close(exclusive._held.pop(path))
