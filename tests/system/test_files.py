"""A file is replaced whole or not at all, and read only if it is regular and not too large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edged.system.files import FOR_ALL, open_regular_file, read_regular_file, replace_file


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
        "import os, sys; from pathlib import Path; from edged.system.files import replace_file\n"
        "with replace_file(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", killed, path], check=False).returncode == -9
    assert path.read_text() == "before"


def test_a_folder_that_takes_nothing_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replace_file(tmp_path / "absent" / "file") as file:
        file.write(b"content")


def test_all_of_a_file_is_read_up_to_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for content in (b"", b"x", b"x" * 100_000):
        path.write_bytes(content)
        assert read_regular_file(path, 100_000) == content

    with pytest.raises(OSError, match="it has more than 99999 bytes"):
        read_regular_file(path, 99_999)


def test_a_file_that_does_not_say_its_size_is_read_up_to_the_bound() -> None:
    assert Path("/proc/self/status").stat().st_size == 0

    assert read_regular_file(Path("/proc/self/status"), 10**6).startswith(b"Name:")
    with pytest.raises(OSError, match="it has more than 10 bytes"):
        read_regular_file(Path("/proc/self/status"), 10)


def test_what_is_no_file_is_refused_before_anything_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, found in (
        (tmp_path / "pipe", "a named pipe"),
        (tmp_path, "a folder"),
        (Path("/dev/zero"), "a device"),
    ):
        with pytest.raises(OSError, match=f"it is {found}, expected a file"):
            open_regular_file(path)
    with pytest.raises(FileNotFoundError):
        open_regular_file(tmp_path / "none")
    with pytest.raises(OSError, match="null byte"):
        open_regular_file(tmp_path / "a\0b")
