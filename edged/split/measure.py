"""Measure workers, and their links: empty and ever larger round trips, each way."""

import os
import statistics
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from edged.clock import nanoseconds, now_ns
from edged.errors import DeviceError, ModelError
from edged.hub.links.unix_link import QUEUED
from edged.messages import AssignPart, Echo, MeasureAnswer, MeasureRequest
from edged.split.pump import Pump, Tried
from edged.split.search import Ability, LinkSpeed, PlannedPart, Unit, Way, Ways
from edged.split.workers import ANSWER_S, Team, name_of
from edged.system.machine_state import UNWATCHED, Machine, Turn, in_one_state

ROUND_TRIPS = 20
# Messages on their way. libzmq reports what it has read of a queue in batches of half its limit (ZMQ_SNDHWM of
# zmq_setsockopt(3)), so a queue may count as full, and refuse messages, with more than half its limit in it.
AT_ONCE = QUEUED // 2
LARGE = 5
FIRST_BYTES, MOST_BYTES = 1 << 16, 1 << 22
ENOUGH_S = 0.1  # a transfer this long gives a good estimate


def link_speed(team: Team, name: str) -> LinkSpeed:
    """Measure the link to an idle worker."""
    _seconds(team, name, 0, 0)
    empty_s = statistics.median(_seconds(team, name, 0, 0) for _ in range(ROUND_TRIPS))
    return LinkSpeed(
        round_trip_s=empty_s,
        out_s_per_byte=_s_per_byte(team, name, back=False),
        back_s_per_byte=_s_per_byte(team, name, back=True),
        message_s=_message_s(team, name),
    )


def _message_s(team: Team, name: str) -> float:
    """Measure seconds a message while many are on their way, so that both ends are always busy."""
    start = time.perf_counter()
    for _ in range(AT_ONCE):
        team.send(name, Echo(reply_bytes=0), [b""])
    for _ in range(AT_ONCE):
        _await_echo(team, name)
    return (time.perf_counter() - start) / AT_ONCE


def _s_per_byte(team: Team, name: str, *, back: bool) -> float:
    """Measure seconds a byte: the difference of two sizes, so that the round trip itself does not count."""
    nbytes = FIRST_BYTES
    while True:
        less_s, more_s = (_one_way_s(team, name, size, back) for size in (nbytes, 2 * nbytes))
        if less_s > ENOUGH_S or nbytes >= MOST_BYTES:
            return max(0.0, more_s - less_s) / nbytes
        nbytes *= 2


def _one_way_s(team: Team, name: str, nbytes: int, back: bool) -> float:
    """Return the fastest of a few round trips: other load can only add to one."""
    times: list[float] = []
    while len(times) < LARGE and sum(times) < 2 * ENOUGH_S:
        times.append(_seconds(team, name, *((0, nbytes) if back else (nbytes, 0))))
    return min(times)


def _seconds(team: Team, name: str, out: int, back: int) -> float:
    """Time a round trip of so many bytes each way."""
    payload = bytes(out)
    start = time.perf_counter()
    team.send(name, Echo(reply_bytes=back), [payload])
    _await_echo(team, name)
    return time.perf_counter() - start


def _await_echo(team: Team, name: str) -> None:
    while received := team.receive(now_ns() + nanoseconds(ANSWER_S)):
        if name_of(received) == name and isinstance(received.message, Echo):
            return
    raise DeviceError(f"worker {name} does not answer within {ANSWER_S:g} s")


def measure(
    team: Team, groups: Mapping[str, Sequence[str]], frames: int, for_s: float, machine: Machine = UNWATCHED
) -> tuple[list[Unit], list[Turn]]:
    """Measure all workers of `groups` at the same time, as they will work; then the link to each, alone.

    `frames`: in a job. Returns the turns of the machine too: the last one is that of the figures.
    Raises ModelError for a network that cannot be cut.
    """
    workers = [name for names in groups.values() for name in names]
    team.report(f"measuring {', '.join(workers)}")
    found, turns = in_one_state(machine, lambda: _measured(team, workers, frames, for_s))
    _check(found)
    team.report("measuring the links")
    abilities = {name: Ability(found[name], link_speed(team, name)) for name in workers}
    units = [
        Unit(group, tuple(names), tuple(abilities[name] for name in names)) for group, names in groups.items()
    ]
    return units, turns


def _again(team: Team, units: Iterable[Unit], workers: Collection[str], frames: int, for_s: float) -> list[Unit]:
    """Measure these workers again, and return the units with the new figures."""
    now = _measured(team, workers, frames, for_s)
    return [
        replace(
            unit, abilities=tuple(replace(old, measured=now.get(name, old.measured)) for name, old in unit.each())
        )
        for unit in units
    ]


def _measured(team: Team, workers: Collection[str], frames: int, for_s: float) -> dict[str, MeasureAnswer]:
    answers = team.request({name: MeasureRequest(frames=frames, for_s=for_s) for name in workers}, for_s)
    found = {name: answer for name, answer in answers.items() if isinstance(answer, MeasureAnswer)}
    if lost := [name for name in workers if name not in found]:
        raise DeviceError(f"worker {', '.join(lost)} reconnected without an answer: its link was broken meanwhile")
    return found


def _check(found: Mapping[str, MeasureAnswer]) -> None:
    places = {name: [cut.after for cut in measured.cut_points] for name, measured in found.items()}
    first, *others = places
    for other in others:
        if places[other] != places[first]:
            raise ModelError(
                f"{first} and {other} cut the network at other places: install the same edged on both"
            )
    if len(places[first]) < 3:
        raise ModelError("this network cannot be cut: there is no place in it where a single tensor crosses")


def try_each(
    team: Team, ways: Ways, frames: int, for_s: float, machine: Machine = UNWATCHED, state: str | None = None
) -> tuple[dict[Way, Tried], list[Turn]]:
    """Run noise through each way and measure it; the prediction is made just before, since load there may change.

    A way is repeated until the machine is in this `state`, that of the first figures; not for ever. Returns all
    turns of the machine, too. In the end each worker has its own part again.
    """
    own = [PlannedPart("", (name,), *_ends(team, name)) for name in team.hellos]
    model = next(iter(team.hellos.values())).model
    images = [os.urandom(model.width * model.height * 3) for _ in range(frames)]
    tried: dict[Way, Tried] = {}
    turns: list[Turn] = []

    def attempt(way: Way) -> tuple[Way, Tried]:
        now = Ways(_again(team, ways.units, way.workers, frames, for_s))
        _take_parts(team, way.parts)
        return now.again(way), Pump(team, [part.workers for part in way.parts], images).run(for_s)

    try:
        for way in (*ways.unsplit, *ways.split):
            team.report(f"trying: {way.title}")
            (predicted, measured), of_way = in_one_state(machine, partial(attempt, way), state)
            turns += of_way
            tried[predicted] = replace(measured, state=of_way[-1].state)
    except KeyboardInterrupt:
        team.gather([name for part in own for name in part.workers], ANSWER_S)
        _take_parts(team, own)
        raise
    _take_parts(team, own)
    return tried, turns


def _take_parts(team: Team, parts: Iterable[PlannedPart]) -> None:
    """Assign this part to workers that have another one."""
    wanted = {name: (part.begin, part.end) for part in parts for name in part.workers}
    team.request({
        name: AssignPart(begin=begin, end=end)
        for name, (begin, end) in wanted.items()
        if (begin, end) != _ends(team, name)
    })  # fmt: skip


def _ends(team: Team, name: str) -> tuple[str | None, str | None]:
    part = team.hellos[name].part
    return (part.begin, part.end) if part else (None, None)
