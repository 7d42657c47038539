"""Which rails this machine has, and which of them a config asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edged import config
from edged.energy import hwmon, powercap
from edged.energy.rails import Rail, Unreadable
from edged.messages import EnergyMethod


@dataclass(frozen=True)
class Rails:
    """The rails that are read, and why others are not. `others` could be named in the config."""

    rails: tuple[Rail, ...]
    others: tuple[Rail, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    missing: tuple[str, ...] = ()
    switched_off: bool = False

    @property
    def method(self) -> EnergyMethod:
        """measured where there is a rail, else none."""
        return "measured" if self.rails else "none"

    @property
    def note(self) -> str:
        """Why energy is not measured, or not all that was asked for; empty where all is well."""
        if self.switched_off:
            return "switched off by energy.rails: none"
        reasons = [f"there is no rail named {', '.join(self.missing)}"] if self.missing else []
        reasons += [f"{u.name} ({u.path}): {u.reason}; {u.remedy}" for u in self.unreadable]
        if not self.rails and not reasons:
            return "this machine has no energy counter in /sys/class/hwmon or /sys/class/powercap"
        return "; ".join(reasons)


def find_rails(energy: config.Energy, root: Path = Path("/sys")) -> Rails:
    """The rails of this machine that `energy.rails` asks for. Reads each once; never raises.

    `auto` leaves out a rail whose joules are in another one too, so that their sum tells each joule once.
    """
    if energy.rails == "none":
        return Rails(rails=(), switched_off=True)
    found = _without_twins([*hwmon.find(root), *powercap.find(root)])
    readable = [rail for rail in found if isinstance(rail, Rail)]
    unreadable = tuple(rail for rail in found if isinstance(rail, Unreadable))
    if energy.rails == "auto":
        chosen = [rail for rail in readable if not rail.overlaps]
        missing: tuple[str, ...] = ()
    else:
        chosen = [rail for rail in readable if rail.name in energy.rails]
        known = {rail.name for rail in found}
        missing = tuple(name for name in energy.rails if name not in known)
        unreadable = tuple(rail for rail in unreadable if rail.name in energy.rails)
    others = tuple(rail for rail in readable if rail not in chosen)
    return Rails(tuple(chosen), others, unreadable, missing)


def _without_twins(found: Sequence[Rail | Unreadable]) -> list[Rail | Unreadable]:
    """One of each name: RAPL shows the same package through two interfaces (MSR and MMIO)."""
    by_name: dict[str, Rail | Unreadable] = {}
    for rail in found:
        if rail.name not in by_name or isinstance(by_name[rail.name], Unreadable):
            by_name[rail.name] = rail
    return list(by_name.values())
