"""What `edged check` has found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line of the answer. `error`: edged would not run there; `warning`: it would, but not as hoped."""

    level: Literal["ok", "warning", "error"]
    what: str
    text: str
