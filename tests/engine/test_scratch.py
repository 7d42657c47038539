"""The folder for a driver's files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edged.engine import scratch
from edged.engine.scratch import VARIABLE, use_own_scratch
from tests.disks import a_small_disk, fill


def test_every_process_has_its_own_even_if_its_parent_named_one(tmp_path: Path) -> None:
    environment = {VARIABLE: str(tmp_path / "1")}

    use_own_scratch(tmp_path, environment)

    own = Path(environment[VARIABLE])
    assert own.parent == tmp_path
    assert own.name.startswith(f"{os.getpid()}-")


def test_what_the_user_has_named_stays(tmp_path: Path) -> None:
    environment = {VARIABLE: "/var/cache/pocl"}

    use_own_scratch(tmp_path, environment)

    assert environment == {VARIABLE: "/var/cache/pocl"}


def test_what_dead_processes_have_left_goes(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead, alive = tmp_path / child.stdout.decode().strip(), tmp_path / str(os.getppid())
    for folder in (dead, alive, tmp_path / str(os.getpid())):
        (folder / "kernel").mkdir(parents=True)

    found: dict[str, str] = {}
    use_own_scratch(tmp_path, found)

    own = Path(found[VARIABLE])
    assert sorted(tmp_path.iterdir()) == sorted([alive, own])
    assert not list(own.iterdir())


def test_a_folder_in_use_stays_though_its_number_is_nobodys_here(tmp_path: Path) -> None:
    """Containers that share a cache count their processes each from 1."""
    found: dict[str, str] = {}
    use_own_scratch(tmp_path, found)
    of_another_container = Path(found[VARIABLE]).rename(tmp_path / f"{2**22 + 1}-held")

    use_own_scratch(tmp_path, {})

    assert of_another_container.is_dir()


def test_a_left_folder_with_the_number_of_this_process_is_not_used_again(tmp_path: Path) -> None:
    """Numbers begin anew with each start of the system, so another process may be removing that folder."""
    left = tmp_path / str(os.getpid())
    (left / "kernel").mkdir(parents=True)

    found: dict[str, str] = {}
    use_own_scratch(tmp_path, found)

    assert not left.exists()
    assert Path(found[VARIABLE]) != left


def test_without_a_writable_cache_it_is_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment: dict[str, str] = {}

    use_own_scratch(tmp_path / "file" / "pocl", environment)

    folder = Path(environment[VARIABLE])
    assert folder.is_dir()
    folder.rmdir()


def test_on_a_disk_that_is_full_it_is_elsewhere_and_goes_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # in that of all, another test's process would remove it
    monkeypatch.setattr(scratch, "PLACES", (tmp_path,))
    with a_small_disk(tmp_path / "full") as full:
        fill(full)
        command = [sys.executable, "-c", ELSEWHERE, str(full)]
        folder = Path(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())
    assert full not in folder.parents
    assert folder.is_dir()

    use_own_scratch(tmp_path, {})

    assert not folder.exists()


ELSEWHERE = """
import sys; from pathlib import Path
from edged.engine import scratch
from edged.engine.scratch import VARIABLE, use_own_scratch
use_own_scratch(Path(sys.argv[1]), found := {}); print(found[VARIABLE])
"""
