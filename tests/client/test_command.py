"""`edged subscribe` where there is no hub; with one: tests/e2e/test_stream.py."""

import signal
import subprocess
import sys

import pytest

from tests.cli.command import edged
from tests.eventually import free_port


@pytest.mark.deep
def test_a_hub_that_is_not_there_is_waited_for_with_one_notice() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "edged", "subscribe", address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        notice = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert notice == f"edged: waiting: nothing received from {address} yet; is `edged run` running?\n"
    assert (process.returncode, rest) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["localhost:5570"], "is not an address like tcp://127.0.0.1:5570"),
        (["--since", "5 minutes"], "is not a time like 30, 30s, 5m, 2h or 1d"),
        (["--count", "0"], "is not an integer of at least 1"),
    ],
)
def test_an_argument_that_makes_no_sense(arguments: list[str], message: str) -> None:
    done = edged("subscribe", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
