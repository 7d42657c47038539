"""The line that shows how far a compiler is."""

import io
import logging

from edged.cli.terminal import ProgressLine


def test_each_event_takes_the_place_of_the_one_before_it_and_the_last_leaves_nothing() -> None:
    terminal = io.StringIO()
    log = logging.Logger("compiling")
    log.addHandler(ProgressLine(terminal))

    for done in range(2):
        log.info("compiling kernels %d/%d", done, 2)
    log.info("compiled kernels 2/2")

    before, zero, one, after = terminal.getvalue().split("\r\x1b[K")
    assert "compiling kernels 0/2" in zero
    assert "compiling kernels 1/2" in one
    assert before == after == ""
