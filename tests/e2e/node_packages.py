"""Packages of Node.js for tests of other programs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def zeromq_folder() -> Path:
    """A folder with the npm package `zeromq`, kept between runs."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node or npm is absent")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "edged-tests" / "node"
    if not (folder / "node_modules" / "zeromq").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "zeromq@6"]
        done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install zeromq: {done.stderr[-200:]}")
    return folder
