"""Worker processes with a fault, which `wrong_kernel/sitecustomize.py` makes in them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def break_worker(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """Set a variable that `wrong_kernel/sitecustomize.py` reads."""
    folders = [str(Path(__file__).parent / "wrong_kernel"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, folders)))
    monkeypatch.setenv(variable, value)
