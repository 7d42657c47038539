"""A finding of `edged check` or `edged doctor`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Self

Level = Literal["ok", "warning", "error"]


class Kind(StrEnum):
    """What `edged doctor` concludes from a finding of `edged check`.

    ADDRESS_IN_USE: another process listens there. SERVES: the worker would run the model, or its part. WAITS: it
    would take over from those before it.
    """

    PLAIN = "plain"
    ADDRESS_IN_USE = "address in use"
    SERVES = "serves"
    WAITS = "waits"


@dataclass(frozen=True)
class Finding:
    """One line of the result. `error`: edged would not run; `warning`: it would, with a limitation.

    `commands`: shell commands that fix it. `section`: of the page of `edged doctor`. `device`: of a worker that
    would run, the name of its device.
    """

    level: Level
    what: str
    text: str
    commands: tuple[str, ...] = ()
    section: str = ""
    kind: Kind = Kind.PLAIN
    device: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the finding whose fields came as JSON. Raises TypeError, ValueError."""
        return cls(**{**values, "commands": tuple(values["commands"]), "kind": Kind(values["kind"])})


def in_section(section: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings with the section of the page in which they stand."""
    return (replace(finding, section=section) for finding in findings)
