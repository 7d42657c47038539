"""What must be written whole is not interrupted, by whichever thread the system delivers the signal."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from edged.system.process_end import uninterrupted
from tests.eventually import eventually


@pytest.fixture
def delivered() -> Iterator[Callable[[], int]]:
    """Return a function that waits for the next signal that reaches the process."""
    read, write = os.pipe2(os.O_NONBLOCK)
    before = signal.set_wakeup_fd(write)
    os.set_blocking(read, True)
    yield lambda: os.read(read, 1)[0]
    signal.set_wakeup_fd(before)
    os.close(read)
    os.close(write)


def written_despite(send: Callable[[], None]) -> list[str]:
    """Write while a signal arrives; return what was written before it interrupts."""
    written: list[str] = []

    def write() -> None:
        with uninterrupted():
            send()
            written.append("all")

    with pytest.raises(KeyboardInterrupt):
        write()
    return written


def test_ctrl_c_waits_until_the_end_of_the_block() -> None:
    assert written_despite(lambda: os.kill(os.getpid(), signal.SIGINT)) == ["all"]


def test_so_it_does_if_another_thread_takes_the_signal(delivered: Callable[[], int]) -> None:
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()

    def send() -> None:
        assert other.ident
        signal.pthread_kill(other.ident, signal.SIGINT)
        assert delivered() == signal.SIGINT

    try:
        assert written_despite(send) == ["all"]
    finally:
        stop.set()
        other.join()


def test_another_handler_is_in_place_again() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            assert received == []
        eventually(lambda: received)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [signal.SIGTERM]


def test_another_thread_needs_no_handlers() -> None:
    done = []

    def write() -> None:
        with uninterrupted():
            done.append("written")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert done == ["written"]


def python(program: str) -> int:
    imports = "import ctypes, signal; from edged.system.process_end import killed_after\n"
    return subprocess.run([sys.executable, "-c", imports + program], timeout=60, check=False).returncode


def test_a_call_that_keeps_the_interpreters_lock_is_killed_when_its_time_is_over() -> None:
    # PyDLL keeps the lock while it calls, so that no thread of Python runs
    assert python("with killed_after(0.1): ctypes.PyDLL(None).sleep(3600)") == -signal.SIGALRM


def test_a_call_that_ends_in_time_costs_nothing_later() -> None:
    assert python("with killed_after(60): pass\nassert signal.getitimer(signal.ITIMER_REAL) == (0, 0)") == 0
