"""A folder for what is taught."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.model.head_versions import teach_folder
from tests.teach.crops import release_locks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the node `test`, in a state directory of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return teach_folder("test")


@pytest.fixture(autouse=True)
def _locks_end_with_the_test() -> Iterator[None]:
    yield
    release_locks()
