"""The process of `compile_apart`: of the lowest priority, and the first to be killed where memory runs out."""

import os
from pathlib import Path

from edged.engine.apart import read_request
from edged.engine.device import open_device
from edged.engine.opencl import cl
from edged.engine.programs import Binaries, Programs

LOWEST_PRIORITY = 19
KILLED_FIRST = "1000"  # proc(5), oom_score_adj


def main() -> None:
    """Serve one request. Raises DeviceError."""
    device, request = read_request()
    os.nice(LOWEST_PRIORITY)
    Path("/proc/self/oom_score_adj").write_text(KILLED_FIRST)
    programs = Programs(cl.Context([open_device(device)]), device, Binaries(Path(request["cache"])))
    programs.composed(request["source"])
    programs.save()


if __name__ == "__main__":
    main()
