"""Measurements on a machine that others use too: only those count in which they left it alone."""

import time
from collections.abc import Callable
from typing import TypeVar

from edged.system.machine_state import Business, busy

TRIES = 3
LOOK_S = 1.0

T = TypeVar("T")


def undisturbed(measure: Callable[[], T], most: float) -> T | None:
    """What `measure` finds while others keep `most` processors busy at most; None where each try was disturbed."""
    for _ in range(TRIES):
        before = Business()
        measured = measure()
        others = before.others()
        print(f"({'disturbed: ' * (others > most)}others kept {others:.2f} processors busy)", flush=True)
        if others <= most:
            return measured
    return None


def wait_for_quiet(most: float) -> None:
    """Until so few processors are busy. To be called before anything of ours runs."""
    others = most + 1
    while others > most:
        busy_s = busy()
        time.sleep(LOOK_S)
        others = (busy() - busy_s) / LOOK_S
