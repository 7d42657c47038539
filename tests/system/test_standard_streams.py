"""Lines go on where a disk is full or a reader has stopped, and nobody waits for them."""

import os
from pathlib import Path

import pytest

from edged.system.standard_streams import ERASE_BELOW, WAITING, LineWriter, is_gone
from tests.eventually import eventually


def test_lines_are_written_in_order(tmp_path: Path) -> None:
    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno())
        for number in range(200):
            writer.write(f"line {number}")
        assert writer.flush()
    assert (tmp_path / "lines").read_text().splitlines() == [f"line {number}" for number in range(200)]


def test_a_disk_that_is_full_loses_lines_and_says_how_many_once_there_is_room() -> None:
    failures: list[OSError] = []
    reader, pipe = os.pipe()
    with open("/dev/full", "wb") as full:
        descriptor = os.dup(full.fileno())
        writer = LineWriter(descriptor, on_failure=failures.append)
        writer.write("first")
        writer.write("second")
        assert writer.flush()
        assert [error.strerror for error in failures] == ["No space left on device"]
        os.dup2(pipe, descriptor)
    writer.write("third")
    assert writer.flush()
    assert os.read(reader, 1000) == "… 2 lines could not be written\nthird\n".encode()
    assert writer.error is None


def test_a_reader_that_has_gone_is_distinguished_from_a_full_disk() -> None:
    reader, pipe = os.pipe()
    os.close(reader)
    writer = LineWriter(pipe)
    writer.write("line")
    assert writer.flush()
    assert writer.error
    assert is_gone(writer.error)


def test_nobody_waits_for_a_reader_that_does_not_read() -> None:
    reader, pipe = os.pipe()
    writer = LineWriter(pipe)
    for _ in range(WAITING + 100):
        writer.write("x" * 1000)
    assert not writer.flush(within_s=0.01)

    received = bytearray()

    def all_has_come() -> bool:
        received.extend(os.read(reader, 1 << 16))
        return writer.flush(within_s=0.01)

    eventually(all_has_come)
    writer.write("last")
    assert writer.flush()
    received.extend(os.read(reader, 1 << 16))
    *lines, last = received.decode().splitlines()
    assert last == "last"
    assert sum(line.endswith("lines could not be written") for line in lines) == 1


def test_an_exception_in_its_thread_costs_one_line_and_is_counted(tmp_path: Path) -> None:
    def encode(line: str) -> bytes:
        if "bad" in line:
            raise RuntimeError("injected")
        return line.encode()

    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno(), encode)
        for line in ("first", "bad", "last"):
            writer.write(line)
        assert writer.flush()
    assert (tmp_path / "lines").read_text() == "first\n… 1 line could not be written\nlast\n"


@pytest.mark.parametrize(("text", "expected"), [("20 °C", b"20 \\u00b0C\n"), ("\U0001f600", b"\\ud83d\\ude00\n")])
def test_what_an_encoding_lacks_is_escaped(tmp_path: Path, text: str, expected: bytes) -> None:
    from edged.system.standard_streams import ESCAPED, open_standard_streams

    open_standard_streams()
    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno(), lambda line: line.encode("ascii", ESCAPED))
        writer.write(text)
        assert writer.flush()
    assert (tmp_path / "lines").read_bytes() == expected


def test_rows_are_kept_below_the_lines_and_erased_in_the_end(tmp_path: Path) -> None:
    back = b"\r\x1b[1A"  # to the first of two rows
    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno())
        writer.keep_below(lambda: b"two\nrows")
        writer.write("line")
        assert writer.flush()
        writer.keep_below(None)
        writer.write("last")
        assert writer.flush()
    first, *drawn, last = (tmp_path / "lines").read_bytes().split(ERASE_BELOW.encode())
    assert first == b""
    assert set(drawn) - {b""} == {b"two\nrows" + back, b"line\ntwo\nrows" + back}
    assert last == b"last\n"


def test_rows_are_drawn_again_while_there_are_no_lines(tmp_path: Path) -> None:
    times = iter(range(1000))
    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno())
        writer.keep_below(lambda: b"%d" % next(times))
        eventually(lambda: b"2" in (tmp_path / "lines").read_bytes())
        writer.keep_below(None)
        assert writer.flush()


def test_rows_that_cannot_be_drawn_cost_no_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def draw() -> bytes:
        raise RuntimeError("injected")

    with (tmp_path / "lines").open("wb") as file:
        writer = LineWriter(file.fileno())
        writer.keep_below(draw)
        writer.write("line")
        assert writer.flush()
    assert (tmp_path / "lines").read_text() == "line\n"
    assert [record.getMessage() for record in caplog.records] == ["the status cannot be drawn"]
