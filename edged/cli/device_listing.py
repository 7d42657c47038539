"""The process that lists the OpenCL devices into the file that its argument names."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from edged.engine.device import list_devices


def main() -> None:
    """Write the devices as JSON."""
    Path(sys.argv[1]).write_text(json.dumps([asdict(device) for device in list_devices()]))


if __name__ == "__main__":
    main()
