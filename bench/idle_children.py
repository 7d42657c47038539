"""`edged` whose cameras and workers do nothing: `python -m bench.idle_children run …`.

Simulated ones take their names on the hub's private link.
"""

import sys
from functools import partial

from edged.cli import run as run_verb
from edged.cli import run_command_line
from edged.hub.wiring import run_hub

# they end with the hub; what follows are arguments that sh ignores
IDLE = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", "exec sleep infinity")

if __name__ == "__main__":
    setattr(run_verb, "run_hub", partial(run_hub, program=IDLE))  # noqa: B010
    sys.exit(run_command_line(sys.argv[1:]))
