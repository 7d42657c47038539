"""What `edged doctor` says of one thing."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "mend"]


@dataclass(frozen=True)
class Judgement:
    """A line of the page. `mend`: something must be done; `remedy`: the shell commands for it, or for a note."""

    section: str
    level: Level
    what: str
    text: str
    remedy: tuple[str, ...] = ()
