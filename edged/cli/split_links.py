"""How quick the link to a worker is: round trips with nothing to carry, and with ever more, each way."""

import statistics
import time

from edged.cli.split_costs import LinkSpeed
from edged.cli.split_team import ANSWER_S, Team, name_of
from edged.clock import nanoseconds, now_ns
from edged.errors import DeviceError
from edged.messages import Echo

ROUND_TRIPS = 20
AT_ONCE = 50  # fewer than either end lets wait
LARGE = 5
FIRST_BYTES, MOST_BYTES = 1 << 16, 1 << 22
ENOUGH_S = 0.1  # for a payload to tell how quick the link is


def link_speed(team: Team, name: str) -> LinkSpeed:
    """Of the link between us and a worker that has nothing else to do."""
    _seconds(team, name, 0, 0)
    empty_s = statistics.median(_seconds(team, name, 0, 0) for _ in range(ROUND_TRIPS))
    return LinkSpeed(
        round_trip_s=empty_s,
        out_s_per_byte=_s_per_byte(team, name, back=False),
        back_s_per_byte=_s_per_byte(team, name, back=True),
        message_s=_message_s(team, name),
    )


def _message_s(team: Team, name: str) -> float:
    """Many at once, so that each end has always one to do."""
    start = time.perf_counter()
    for _ in range(AT_ONCE):
        team.send(name, Echo(wanted=0), [b""])
    for _ in range(AT_ONCE):
        _await_echo(team, name)
    return (time.perf_counter() - start) / AT_ONCE


def _s_per_byte(team: Team, name: str, *, back: bool) -> float:
    """From what twice as many bytes take more, so that neither the way there nor a first burst counts."""
    nbytes = FIRST_BYTES
    while True:
        less_s, more_s = (_one_way_s(team, name, size, back) for size in (nbytes, 2 * nbytes))
        if less_s > ENOUGH_S or nbytes >= MOST_BYTES:
            return max(0.0, more_s - less_s) / nbytes
        nbytes *= 2


def _one_way_s(team: Team, name: str, nbytes: int, back: bool) -> float:
    """The quickest of a few round trips: what else the machine does only ever adds to one."""
    times: list[float] = []
    while len(times) < LARGE and sum(times) < 2 * ENOUGH_S:
        times.append(_seconds(team, name, *((0, nbytes) if back else (nbytes, 0))))
    return min(times)


def _seconds(team: Team, name: str, out: int, back: int) -> float:
    """A round trip of so many bytes each way."""
    payload = bytes(out)
    start = time.perf_counter()
    team.send(name, Echo(wanted=back), [payload])
    _await_echo(team, name)
    return time.perf_counter() - start


def _await_echo(team: Team, name: str) -> None:
    while received := team.hear(now_ns() + nanoseconds(ANSWER_S)):
        if name_of(received) == name and isinstance(received.message, Echo):
            return
    raise DeviceError(f"worker {name} does not answer within {ANSWER_S:g} s")
