"""Wait until other programs leave the machine alone."""

import time

from edged.system.processor_use import busy

LOOK_S = 1.0


def wait_for_quiet(most: float) -> None:
    """Until so few processors are busy. To be called before anything of ours runs."""
    others = most + 1
    while others > most:
        busy_s = busy()
        time.sleep(LOOK_S)
        others = (busy() - busy_s) / LOOK_S
