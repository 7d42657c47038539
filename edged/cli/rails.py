"""Format the power rails of this host: what each draws now, and why one is not readable."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.config import EnergyConfig
from edged.energy.find import Rails, find_rails
from edged.energy.idle import watts_over
from edged.energy.meter import Meter
from edged.energy.rails import Rail

LIVE_S = 1.0

Watts = Mapping[str, float]  # watts by rail, of those that could be read all the time


def add_sysfs(parser: argparse.ArgumentParser) -> None:
    """Add --sysfs."""
    where = "the host's /sys in a container, as energy.sysfs in the config (default: /sys)"
    parser.add_argument("--sysfs", type=Path, default=Path("/sys"), metavar="FOLDER", help=where)


def given_rails(arguments: argparse.Namespace) -> Rails:
    """Find all rails below --sysfs."""
    return find_rails(EnergyConfig(sysfs=arguments.sysfs))


def live_watts(rails: Rails) -> Watts:
    """Measure the watts of each readable rail over a second; returns at once if there is none."""
    every = [*rails.rails, *rails.others]
    if not every:
        return {}
    meter = Meter(every)
    try:
        return watts_over(meter, LIVE_S)
    finally:
        meter.close()


def rail_lines(rails: Rails, watts: Watts) -> Iterator[str]:
    """Format one line for each rail, and how to make unreadable ones readable."""
    for rail in rails.rails:
        yield _line(rail, watts)
    for rail in rails.others:
        yield f"{_line(rail, watts)} (only if named: it overlaps with another rail)"
    for unreadable in rails.unreadable:
        yield f"{unreadable.name}: not readable: {unreadable.reason}: {unreadable.path}"
    remedies = dict.fromkeys(remedy for unreadable in rails.unreadable for remedy in unreadable.remedies)
    yield from (f"    {remedy}" for remedy in remedies)
    if not (rails.rails or rails.unreadable):
        yield f"none: {rails.note}"


def rails_as_object(rails: Rails, watts: Watts) -> dict[str, Any]:
    """Return the rails for JSON."""
    readable = [(rail, True) for rail in rails.rails] + [(rail, False) for rail in rails.others]
    return {
        "rails": [
            {
                "name": rail.name,
                "path": rail.path,
                "gives": rail.gives,
                "watts": watts.get(rail.name),
                "auto": auto,
            }
            for rail, auto in readable
        ],
        "unreadable_rails": [asdict(rail) for rail in rails.unreadable],
        "note": rails.note,
    }


def _line(rail: Rail, watts: Watts) -> str:
    now = f"{watts[rail.name]:.3g} W" if rail.name in watts else "no reading"
    files = " × ".join(map(str, [rail.path, rail.times] if rail.times else [rail.path]))
    return f"{rail.name}: {now}, {'energy' if rail.gives == 'joules' else 'power'}: {files}"
