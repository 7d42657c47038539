"""`edged` whose hub has no metrics: `python -m tests.perf.unmeasured run …`, to see what they cost."""

import sys
from collections.abc import Iterator
from typing import Any

from edged.__main__ import main
from edged.hub import answers, outlet, parts


class Nothing:
    """Whatever is asked of it, it does nothing, and gives itself."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> "Nothing":
        return self

    def __call__(self, *_: Any, **__: Any) -> "Nothing":
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(())


class NoFigures:
    """In the place of what counts predictions and jobs."""

    def __init__(self, *_: Any) -> None:
        pass

    def count(self, *_: Any) -> None:
        """Nothing."""

    def answered(self, *_: Any) -> None:
        """Nothing."""


REPLACED = {
    (parts, "Metrics"): Nothing,
    (parts, "HostWatch"): Nothing,
    (parts, "HostStates"): Nothing,
    (outlet, "PredictionFigures"): NoFigures,
    (answers, "JobFigures"): NoFigures,
}

if __name__ == "__main__":
    for (module, name), nothing in REPLACED.items():
        assert hasattr(module, name)
        setattr(module, name, nothing)
    sys.exit(main())
