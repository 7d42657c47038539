"""What the kernel does with a process's locks when that ends."""

import os

from edged import exclusive


def let_go() -> None:
    """Of the stores that this process may change."""
    for path in [path for path in exclusive._held if path.name.startswith("teach-")]:
        os.close(exclusive._held.pop(path))
