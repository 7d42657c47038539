"""Starts of processes that the system refuses."""

import subprocess
from collections.abc import Callable
from typing import Any


def refused_by_the_system(number: int, times: int) -> Callable[..., Any]:
    """Return a `subprocess.Popen` that fails `times` times with this error number, then works."""
    real, left = subprocess.Popen, iter(range(times))

    def popen(*arguments: Any, **options: Any) -> Any:
        if next(left, None) is not None:
            raise OSError(number, "refused")
        return real(*arguments, **options)

    return popen
