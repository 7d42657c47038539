"""Starting again gives a compiler's memory back, and happens at most once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.eventually import LIMIT_S

pytestmark = pytest.mark.deep

STARTS_AND_FILLS = """
import sys, tempfile
from pathlib import Path
from edged.worker.process import programs_in, start_again_if_compiled
cache, fills = Path(sys.argv[1]), sys.argv[2] == "fills"
print("started", flush=True)
before = programs_in(cache)
if fills:
    tempfile.NamedTemporaryFile(dir=cache, delete=False).close()
start_again_if_compiled(cache, before)
print("serves")
"""


def starts(cache: Path, what: str) -> list[str]:
    command = [sys.executable, "-c", STARTS_AND_FILLS, str(cache), what]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout.split()


def test_a_start_that_filled_the_cache_is_done_again(tmp_path: Path) -> None:
    assert starts(tmp_path, "fills") == ["started", "started", "serves"]  # once, though the second filled it too


def test_a_start_that_found_all_it_needed_goes_on(tmp_path: Path) -> None:
    assert starts(tmp_path, "finds") == ["started", "serves"]


def test_a_cache_that_cannot_be_written_starts_nothing_again(tmp_path: Path) -> None:
    assert starts(tmp_path / "absent", "finds") == ["started", "serves"]
