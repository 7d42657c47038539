"""The process of `compile_apart`: of the lowest priority, and the first to be killed where memory runs out."""

import json
import os
import sys
from pathlib import Path

from edged.engine.device import Device, open_device
from edged.engine.opencl import cl
from edged.engine.programs import Binaries, Programs
from edged.system.parent_death import die_with

LOWEST_PRIORITY = 19
KILLED_FIRST = "1000"  # proc(5), oom_score_adj


def main() -> None:
    """Serve one request, which comes as JSON from the standard input. Raises DeviceError."""
    request = json.load(sys.stdin)
    die_with(request["parent"])
    os.nice(LOWEST_PRIORITY)
    Path("/proc/self/oom_score_adj").write_text(KILLED_FIRST)
    described = request["device"]
    device = Device(**described | {"position": tuple(described["position"])})
    programs = Programs(cl.Context([open_device(device)]), device, Binaries(Path(request["cache"])))
    programs.composed(request["source"])
    programs.save()


if __name__ == "__main__":
    main()
