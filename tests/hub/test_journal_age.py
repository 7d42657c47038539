"""The age of what the journal keeps, over wall clocks that jump, starts of edged and starts of the machine."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.hub.journal.age import MARKS, SHORTEST_S, Ages, Reading
from edged.hub.journal.schema import Row, open_database
from tests.eventually import eventually
from tests.hub.journals import a_journal, fill, numbers

DAY_S = 86_400
LIMIT_S = 30 * DAY_S
STEP_S = LIMIT_S / MARKS


@dataclass
class Machine:
    """Runs, is switched off and started again; `lived_s` is what somebody with a stopwatch says."""

    boot: int = 0
    uptime_s: float = 0.0
    lived_s: float = 0.0

    def read(self) -> Reading:
        return Reading(f"boot {self.boot}", self.uptime_s)

    def run(self, seconds: float) -> None:
        self.uptime_s += seconds
        self.lived_s += seconds

    def restart(self) -> None:
        self.boot, self.uptime_s = self.boot + 1, 0.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@contextmanager
def marks() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.text_factory = bytes
        database.execute("CREATE TABLE ages (age INTEGER PRIMARY KEY, seq INTEGER, boot TEXT, seconds INTEGER)")
        yield database


running = st.floats(0, 3 * LIMIT_S).map(lambda seconds: ("run", seconds))
events = st.lists(running | st.sampled_from([("edged starts", 0.0), ("machine starts", 0.0)]), max_size=40)


@given(events)
def test_nothing_goes_before_the_machine_has_run_for_the_limit_and_all_goes_soon_after(
    history: list[tuple[str, float]],
) -> None:
    machine, written, newest = Machine(), dict[int, float](), 0
    with marks() as database:
        ages = Ages(database, machine.read)
        for event, seconds in history:
            match event:
                case "run":
                    machine.run(seconds)
                case "machine starts":
                    machine.restart()
                    ages = Ages(database, machine.read)
                case _:
                    ages = Ages(database, machine.read)
            written[newest] = machine.lived_s
            ages.mark(newest, LIMIT_S)
            gone = ages.newest_beyond(LIMIT_S)
            young = [seq for seq, at in written.items() if machine.lived_s - at < LIMIT_S - 1]
            assert all(seq > gone for seq in young)
            newest += 1
        ages.mark(newest, LIMIT_S)
        for _ in range(3):
            machine.run(LIMIT_S / 2 + STEP_S)
            ages.mark(newest, LIMIT_S)
        assert ages.newest_beyond(LIMIT_S) >= newest - 1


@pytest.mark.deep
@given(st.lists(st.floats(0, LIMIT_S / 20), min_size=100, max_size=200))
def test_marks_are_few(pauses: list[float]) -> None:
    machine = Machine()
    with marks() as database:
        ages = Ages(database, machine.read)
        for number, seconds in enumerate(pauses * 5):
            machine.run(seconds)
            ages.mark(number, LIMIT_S)
        ((count,),) = database.execute("SELECT count(*) FROM ages").fetchall()
    assert count <= MARKS + 2


def test_a_restart_of_edged_alone_counts_the_time_between(path: Path) -> None:
    machine = Machine()
    with closing(open_database(path)) as database:
        Ages(database, machine.read).mark(7, LIMIT_S)
        machine.run(LIMIT_S + 1)
        assert Ages(database, machine.read).newest_beyond(LIMIT_S) == 7


def test_a_machine_that_says_no_boot_id_ages_what_is_kept_only_while_edged_runs(path: Path) -> None:
    with closing(open_database(path)) as database:
        Ages(database, lambda: Reading("", 5.0)).mark(7, LIMIT_S)
        assert Ages(database, lambda: Reading("", 5.0 + 2 * LIMIT_S)).newest_beyond(LIMIT_S) == -1


@pytest.mark.parametrize("mark", [(-5, 1, "", 0), (1, 1 << 62, "", 0), (1, b"x", "", "y"), (1, 1, "", -9)])
def test_marks_that_make_no_sense_are_forgotten(path: Path, mark: tuple[object, ...]) -> None:
    with closing(open_database(path)) as database:
        database.execute("INSERT INTO ages VALUES (?, ?, ?, ?)", mark)
        ages = Ages(database, lambda: Reading("now", 10.0))
        assert ages.newest_beyond(0) == -1
        ages.mark(3, LIMIT_S)
        assert ages.newest_beyond(0) == 3


def test_what_is_too_old_goes(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 15)
    with closing(sqlite3.connect(path)) as later, later:  # the journal has been open for three days since
        later.execute("DELETE FROM ages")
        later.executemany("INSERT INTO ages VALUES (?, ?, ?, ?)", [(0, 9, "", 0), (3 * DAY_S, 14, "", 0)])
    with a_journal(path, max_age_days=2):
        eventually(lambda: numbers(path) == list(range(10, 15)))


@pytest.mark.parametrize("days", [60, 36_500, -20_000], ids=["60 days ahead", "a century ahead", "in 1971"])
def test_a_wall_clock_that_is_wrong_at_one_start_costs_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    with a_journal(path) as journal:
        fill(journal, 100)
    with monkeypatch.context() as clock, a_journal(path) as journal:
        clock.setattr(time, "time", lambda: 1.8e9 + days * DAY_S)
        fill(journal, 100, at=1.8e9 + days * DAY_S)
    with a_journal(path) as journal:
        fill(journal, 100)
        journal.append([Row(journal.next_seq, 1.8e9, b"{}")])
    assert len(numbers_kept(path)) == 301


def numbers_kept(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as database:
        return [seq for (seq,) in database.execute("SELECT seq FROM predictions")]


def test_a_daemon_that_runs_deletes_what_has_been_there_for_longer_than_the_limit(path: Path) -> None:
    with a_journal(path, max_age_days=0.1 / DAY_S) as journal:
        fill(journal, 10)
        eventually(lambda: numbers(path) == [], 4 * SHORTEST_S)
        fill(journal, 1)
        assert journal.next_seq == 11
