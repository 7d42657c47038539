"""`edged`, but its router hands out nothing once a file is there: a bug, in a loop that turns."""

import sys
from collections.abc import Iterator

from edged.cli import run_command_line
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.router import Router
from tests.systemd.inside.unit import STUCK

assign_all = Router.assign_all


def assign_or_not(router: Router, now_ns: int) -> Iterator[Assigned]:
    return iter(()) if STUCK.exists() else assign_all(router, now_ns)


if __name__ == "__main__":
    setattr(Router, "assign_all", assign_or_not)  # noqa: B010
    sys.exit(run_command_line(sys.argv[1:]))
