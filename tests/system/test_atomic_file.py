"""A file is replaced whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edged.system.atomic_file import FOR_ALL, replace_file


def test_a_reader_sees_the_file_before_until_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with replace_file(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert os.listdir(tmp_path) == ["file"]


def test_a_block_that_fails_leaves_the_file_before_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), replace_file(path) as file:
        file.write(str(1 // 0).encode())
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["file"]


def test_the_file_has_its_mode_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        for name, mode in (("own", 0o600), ("shared", FOR_ALL)):
            with replace_file(tmp_path / name, mode) as file:
                file.write(b"content")
            assert (tmp_path / name).stat().st_mode & 0o777 == mode
    finally:
        os.umask(umask)


def test_who_is_killed_while_it_writes_leaves_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    killed = (
        "import os, sys; from pathlib import Path; from edged.system.atomic_file import replace_file\n"
        "with replace_file(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", killed, path], check=False).returncode == -9
    assert path.read_text() == "before"


def test_a_folder_that_takes_nothing_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replace_file(tmp_path / "absent" / "file") as file:
        file.write(b"content")
