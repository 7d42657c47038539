"""The rails of this machine for people: what each draws now, and why one is not read."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.config import Energy
from edged.energy.find import Rails, find_rails
from edged.energy.idle import watts_over
from edged.energy.meter import Meter
from edged.energy.rails import Rail

LIVE_S = 1.0

Watts = Mapping[str, float]  # by rail, of those that could be read all the time


def add_sysfs(parser: argparse.ArgumentParser) -> None:
    """--sysfs."""
    where = "where a container has its host's /sys, as energy.sysfs in the config (default: /sys)"
    parser.add_argument("--sysfs", type=Path, default=Path("/sys"), metavar="FOLDER", help=where)


def given_rails(arguments: argparse.Namespace) -> Rails:
    """All that are found where `add_sysfs` says."""
    return find_rails(Energy(sysfs=arguments.sysfs))


def live_watts(rails: Rails) -> Watts:
    """What every rail that can be read draws, over a second; at once where there is none."""
    every = [*rails.rails, *rails.others]
    if not every:
        return {}
    meter = Meter(every)
    try:
        return watts_over(meter, LIVE_S)
    finally:
        meter.close()


def rail_lines(rails: Rails, watts: Watts) -> Iterator[str]:
    """A line a rail, and what mends one that cannot be read below it."""
    for rail in rails.rails:
        yield _line(rail, watts)
    for rail in rails.others:
        yield f"{_line(rail, watts)} (only if named: holds others, or is held by another one)"
    for unreadable in rails.unreadable:
        yield f"{unreadable.name}: not readable: {unreadable.reason}: {unreadable.path}"
    remedies = dict.fromkeys(remedy for unreadable in rails.unreadable for remedy in unreadable.remedies)
    yield from (f"    {remedy}" for remedy in remedies)
    if not (rails.rails or rails.unreadable):
        yield f"none: {rails.note}"


def rails_as_object(rails: Rails, watts: Watts) -> dict[str, Any]:
    """The same for programs."""
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
    now = f"{watts[rail.name]:.3g} W" if rail.name in watts else "no reading just now"
    files = " × ".join(map(str, [rail.path, rail.times] if rail.times else [rail.path]))
    return f"{rail.name}: {now}, {'energy' if rail.gives == 'joules' else 'power'}: {files}"
