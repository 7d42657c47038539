import os
from pathlib import Path

import pytest

from edged.system.regular_file import open_regular_file, read_regular_file


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
