"""Kernels with a fault in their source, as a driver's compiler might make one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from edged.engine import programs

Change = tuple[str, str, str]  # kernel file, what stands there, what stands there instead

MAX_IS_MIN: Change = ("max_pool", "best = (v > best", "best = (best == -INFINITY || v < best")
RELU_IS_MIN: Change = ("layout", "#define RELU_OF", "#define RELU_OF(v) fmin((v), 0)\n#define RIGHT_RELU_OF")
WRONG_VECTOR: Change = ("conv_vector", "sum[o][y][x] += weight", "sum[o][y][x] -= weight")
WRONG_DENSE: Change = ("dense", "sums[lane] += LOAD", "sums[lane] -= LOAD")
WRONG_DENSE_SPLIT: Change = ("dense_split", "sum += LOAD", "sum -= LOAD")


@contextmanager
def wrong_kernel(*changes: Change) -> Iterator[None]:
    """While this lasts, all who read the source of a kernel get the changed one."""
    wrong_of = {f"{name}.cl": (right, wrong) for name, right, wrong in changes}
    read: Callable[[str, set[str]], str] = programs._expand

    def changed(file: str, included: set[str]) -> str:
        text = read(file, included)
        if file not in wrong_of or not text:
            return text
        right, wrong = wrong_of[file]
        assert right in text, f"{file} holds no {right!r}"
        return text.replace(right, wrong)

    with patch.object(programs, "_expand", changed):
        programs.source_of.cache_clear()
        yield
    programs.source_of.cache_clear()
