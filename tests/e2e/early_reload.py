"""`edged run` that gets a SIGHUP before it can handle one: while it reads its config.

`python -m tests.e2e.early_reload run …`
"""

import os
import signal
import sys

from edged.cli import run_command_line
from edged.config import Config
from edged.config.load import ConfigSource

load = ConfigSource.load


def load_after_a_hang_up(source: ConfigSource) -> Config:
    """Send the signal once, then read the config."""
    setattr(ConfigSource, "load", load)  # noqa: B010
    os.kill(os.getpid(), signal.SIGHUP)
    return load(source)


if __name__ == "__main__":
    setattr(ConfigSource, "load", load_after_a_hang_up)  # noqa: B010
    sys.exit(run_command_line(sys.argv[1:]))
