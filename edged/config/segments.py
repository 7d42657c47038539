"""Check the config's `segments` against its list of workers: which part each one runs."""

from collections.abc import Sequence
from itertools import groupby


def problem_of(untils: Sequence[str | None], names: Sequence[str], groups: Sequence[str | None]) -> str:
    """Return why the groups `names` cannot run segments that end at the cuts `untils`; empty if they can.

    `groups`: the group of each worker, in the order of the list.
    """
    if not names:
        return ""
    return _problem_of_cuts(untils) or _problem_of_groups(names, groups)


def _problem_of_cuts(untils: Sequence[str | None]) -> str:
    if len(untils) == 1:
        return "one segment is the whole network: add another, or leave segments out"
    if None in untils[:-1]:
        return f"segment {untils.index(None) + 1} needs until: where it ends (the last one alone has none)"
    if untils[-1] is not None:
        return "the last segment ends with the network: leave its until out, or add the segment that follows it"
    return ""


def _problem_of_groups(names: Sequence[str], groups: Sequence[str | None]) -> str:
    if unknown := [name for name in names if name not in groups]:
        known = ", ".join(dict.fromkeys(group for group in groups if group)) or "none"
        return f"no worker has group: {unknown[0]}; the groups of workers: are {known}"
    if twice := [name for name in names if names.count(name) > 1]:
        return f"group {twice[0]} is used twice: each segment needs workers of its own"
    if not _are_neighbours(names, groups):
        return f"workers of the groups {', '.join(names)} must be neighbours in workers:, in this order"
    return ""


def _are_neighbours(names: Sequence[str], groups: Sequence[str | None]) -> bool:
    runs = [name for name, _ in groupby(groups) if name in names]
    places = [place for place, group in enumerate(groups) if group in names]
    return runs == list(names) and places == list(range(places[0], places[-1] + 1))


def is_cut(until: str | None, operator: str | None) -> bool:
    """Return whether `until` names `operator`, after which a worker cuts the network (see `model.cuts`)."""
    if until is None or operator is None:
        return until == operator
    return operator == until or operator.startswith((f"{until}.", f"{until}/"))
