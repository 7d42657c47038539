"""A finding of `edged check`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line of the result. `error`: edged would not run; `warning`: it would, with a limitation."""

    level: Literal["ok", "warning", "error"]
    what: str
    text: str
