"""Find the rails of this machine, and select those that a config names."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edged import config
from edged.energy.rails import Rail, Unreadable
from edged.energy.sensors import hwmon_rails, is_without_energy, powercap_rails
from edged.messages import EnergyMethod


@dataclass(frozen=True)
class Rails:
    """The rails that are read, and the reasons why others are not. `others` could be named in the config.

    `attributed_rails`: those whose joules are attributed to a worker's predictions, None for all. `silent_juno`:
    there are sensors whose firmware reports no energy.
    """

    energy: config.EnergyConfig
    rails: tuple[Rail, ...]
    others: tuple[Rail, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    missing: tuple[str, ...] = ()
    attributed_rails: tuple[str, ...] | None = None
    silent_juno: bool = False

    @property
    def method(self) -> EnergyMethod:
        """Return measured if there is a rail, else estimated if the config has `watts_per_core`, else none."""
        if self.rails:
            return "measured"
        return "estimated" if self.energy.watts_per_core else "none"

    @property
    def unread_attributed(self) -> tuple[str, ...]:
        """Return the attributed rails that are not read."""
        read = {rail.name for rail in self.rails}
        return tuple(name for name in self.attributed_rails or () if name not in read) if self.rails else ()

    @property
    def note(self) -> str:
        """Return how energy is determined if not by counters alone, or why it is unknown; empty if all is well."""
        parts = [self._method_note(), *self._unreadable_note()]
        return "; ".join(part for part in parts if part)

    def _method_note(self) -> str:
        if self.method == "estimated":
            return f"estimated: {self.energy.watts_per_core:g} W for each second of processor time of the worker"
        if names := ", ".join(rail.name for rail in self.rails if rail.gives == "watts"):
            return f"{names}: power alone, integrated at {self.energy.sample_hz:g} samples a second"
        return ""

    def _unreadable_note(self) -> list[str]:
        if self.energy.rails == "none":
            return ["switched off by energy.rails: none"]
        reasons = [f"there is no rail named {', '.join(self.missing)}"] if self.missing else []
        if self.unread_attributed:
            names = ", ".join(self.unread_attributed)
            reasons.append(f"no joules of predictions: the worker's rails {names} are not read")
        if self.unreadable:
            for reason in dict.fromkeys(each.reason for each in self.unreadable):
                names = ", ".join(each.name for each in self.unreadable if each.reason == reason)
                reasons.append(f"{names}: {reason}")
            reasons.append("`edged devices` says what to do")
        if not self.rails and not reasons:
            reasons.append(self._no_rails_note())
        return reasons

    def _no_rails_note(self) -> str:
        if self.others:
            names = ", ".join(rail.name for rail in self.others)
            return f"energy.rails: auto selects none of {names}, since each overlaps with another: name one"
        root = self.energy.sysfs
        nothing = f"this machine has no energy or power counter in {root}/class/hwmon or {root}/class/powercap"
        return (
            f"{nothing}; Juno's firmware reports none by default since March 2020" if self.silent_juno else nothing
        )


def find_rails(energy: config.EnergyConfig, attributed_rails: tuple[str, ...] | None = None) -> Rails:
    """Find the rails of this machine that `energy.rails` selects. Reads each once, without raising or blocking.

    `auto` leaves out a rail whose joules are in another one too, so that their sum counts each joule once.
    """
    if energy.rails == "none":
        return Rails(energy, rails=())
    found = _distinct([*hwmon_rails(energy.sysfs), *powercap_rails(energy.sysfs)])
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
    silent = not found and is_without_energy(energy.sysfs)
    return Rails(energy, tuple(chosen), others, unreadable, missing, attributed_rails, silent)


def _distinct(found: Sequence[Rail | Unreadable]) -> list[Rail | Unreadable]:
    """Make names of rails unique by the place of their devices (`1-0040` on a bus)."""
    of_name = Counter(rail.name for rail in found if isinstance(rail, Rail))
    return [
        replace(rail, name=f"{rail.name}@{_place(rail.path)}") if of_name[rail.name] > 1 else rail
        for rail in found
    ]


def _place(path: Path) -> str:
    device = path.parent / "device"
    return device.resolve().name if device.exists() else path.parent.name
