"""Ends a process whose driver hangs: no call into a driver can be broken off from inside."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from edged.engine.choice import Choice
from edged.errors import DeviceError

PATIENCE_S = 180.0  # to compile for a slow board takes long, too

log = logging.getLogger(__name__)


@contextmanager
def watchdog(choice: Choice, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """End the process if what is done meanwhile with `choice` takes longer than `patience_s`."""
    timer = Timer(patience_s, _give_up, [choice, patience_s])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(choice: Choice, patience_s: float) -> None:
    log.error("%s hangs: no answer in %.0f s. Start again: it will not be tried any more", choice, patience_s)
    logging.shutdown()
    os._exit(DeviceError.exit_code)
