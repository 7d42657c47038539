"""On the emulated processor: run a convolution, compare it with the reference, and print its program.

`python -m tests.arm.convolution BLOCK…`, with so many channels in a block: the numbers of a vector.
"""

import base64
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from edged.engine.variants.conv_vector import CONV_VECTOR
from tests.engine.lab import Lab
from tests.engine.shapes import case
from tests.runtimes import own_devices


def program(lab: Lab, folder: Path, block: int) -> bytes:
    """Return the program of a convolution, as its driver gives it. `folder`: the cache of `lab`."""
    conv = case((16, 16), (8, 8), block=block, pads=(1, 1, 1, 1))
    conv.check(lab, CONV_VECTOR)
    lab.programs.save()  # once it has run: PoCL makes machine code when it knows the work-group
    (file,) = folder.glob("*.program")
    return file.read_bytes()


def main(blocks: Sequence[str]) -> None:
    """Print the program for each block, in base64 on a line of its own."""
    device = own_devices()[0]
    for block in blocks:
        with tempfile.TemporaryDirectory() as folder:
            lab = Lab(device, Path(folder))
            print(base64.b64encode(program(lab, Path(folder), int(block))).decode())


if __name__ == "__main__":
    main(sys.argv[1:])
