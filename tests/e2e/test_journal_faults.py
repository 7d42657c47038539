"""The daemon with its journal on real disks that are full, that freeze, and that lose what was written."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from edged.hub.journal.writer import TRIM_EVERY
from tests.cli.command import edged
from tests.disks import a_small_disk, an_ext4, fill, frozen, mounted
from tests.e2e.daemon import PATIENT, SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.e2e.injected_faults import WallClock
from tests.e2e.lateness import Lateness
from tests.e2e.witness import RawSubscriber, journal_of
from tests.eventually import LIMIT_S, eventually
from tests.given_time import GivenTime

MAX_WAIT_S = 0.1
CROWDED_S = 1.0  # at most, of a prediction's way apart from the journal


def journal_in(folder: Path, disk: Path) -> dict[str, Any]:
    journal = {"path": str(disk / "journal.sqlite"), "max_megabytes": 8, "max_wait_s": MAX_WAIT_S}
    return config_in(folder, cameras={"demo": {**SYNTHETIC, "fps": 20}}, journal=journal, freshness=PATIENT)


@contextmanager
def watched(daemon: Daemon) -> Iterator[RawSubscriber]:
    raw = RawSubscriber(daemon.address)
    raw.start()
    try:
        eventually(lambda: raw.seen)
        yield raw
    finally:
        raw.stop()


def marked(raw: RawSubscriber) -> list[int]:
    """Numbers of the predictions that said that they were not kept."""
    return [seen.seq for seen in raw.seen if b'"journaled":false' in seen.json]


def messages_of(raw: RawSubscriber, event: str) -> list[str]:
    return [str(each["message"]) for each in raw.events if each["event"] == event]


def has_more(raw: RawSubscriber, count: int) -> bool:
    """Wait for so many more predictions, in an unbroken row."""
    before = len(raw.seen)
    eventually(lambda: len(raw.seen) >= before + count)
    return [seen.seq for seen in raw.seen] == list(range(raw.seen[0].seq, raw.seen[-1].seq + 1))


def errors(daemon: Daemon, reason: str) -> float:
    name = f'edged_journal_errors_total{{reason="{reason}"}} '
    return sum(float(line[len(name) :]) for line in daemon.metrics().splitlines() if line.startswith(name))


@pytest.mark.deep
def test_on_a_full_disk_predictions_go_on_unjournaled_until_there_is_room(
    tmp_path: Path,
) -> None:
    with (
        a_small_disk(tmp_path / "tmpfs") as disk,
        run_edged(tmp_path, config=journal_in(tmp_path, disk)) as daemon,
        watched(daemon) as raw,
    ):
        ballast = fill(disk)
        eventually(lambda: messages_of(raw, "journal_failed"))
        assert has_more(raw, 20)
        assert "its disk is full" in messages_of(raw, "journal_failed")[0]
        ballast.unlink()
        eventually(lambda: messages_of(raw, "journal_recovered"))
        assert has_more(raw, 5)
        assert errors(daemon, "full") > 0
        assert conserves(daemon.stop())
        assert len(marked(raw)) >= 20
        assert {seen.seq for seen in raw.seen} - set(marked(raw)) <= journal_of(disk / "journal.sqlite").keys()


@pytest.mark.promise("a stuck disk holds up a prediction for max_wait_s at most")
def test_on_a_disk_that_is_stuck_predictions_wait_for_no_longer_than_the_bound(tmp_path: Path) -> None:
    with (
        an_ext4(tmp_path) as disk,
        run_edged(tmp_path, config=journal_in(tmp_path, disk)) as daemon,
        watched(daemon) as raw,
    ):
        with frozen(disk):
            eventually(lambda: messages_of(raw, "journal_failed"))
            assert has_more(raw, 40)
            lateness = Lateness()
            lateness.start()
            late = [each.seconds.total for each in daemon.first(20)]
            assert max(late) < MAX_WAIT_S + CROWDED_S + lateness.stop()
            assert "takes too long" in messages_of(raw, "journal_failed")[0]
        eventually(lambda: messages_of(raw, "journal_recovered"))
        assert has_more(raw, 5)
        assert errors(daemon, "stalled") >= len(marked(raw)) > 0
        summary = daemon.stop()
        assert conserves(summary)
    assert summary["predictions"] >= len(raw.seen)


@pytest.mark.promise("a daemon whose disk is stuck prints its summary within 10 s")
def test_a_daemon_whose_disk_is_stuck_still_stops_its_children_and_ends_once_the_disk_lets_it(
    tmp_path: Path,
) -> None:
    with (
        an_ext4(tmp_path) as disk,
        run_edged(tmp_path, config=journal_in(tmp_path, disk)) as daemon,
        watched(daemon) as raw,
    ):
        with frozen(disk):
            eventually(lambda: messages_of(raw, "journal_failed"))
            given = GivenTime()
            daemon.process.terminate()
            eventually(lambda: (tmp_path / "stdout").read_text().endswith("}\n"))
            assert given.seconds() < 10
        assert conserves(daemon.end())


@pytest.mark.deep
def test_a_journal_that_is_damaged_while_the_daemon_runs_is_replaced(tmp_path: Path) -> None:
    config = journal_in(tmp_path, tmp_path)
    path = tmp_path / "journal.sqlite"
    with run_edged(tmp_path, config=config) as daemon, watched(daemon) as raw:
        assert has_more(raw, 10)
        for file in (path, path.with_name("journal.sqlite-wal")):
            with file.open("r+b") as content:
                content.write(os.urandom(file.stat().st_size))
        daemon.first(1, since_s=60)  # somebody asks for what was there
        eventually(lambda: messages_of(raw, "journal_quarantined"))
        assert has_more(raw, 10)
        assert conserves(daemon.stop())
    assert list(tmp_path.glob("journal.sqlite.damaged-*"))


@pytest.mark.deep
def test_a_journal_that_is_removed_while_the_daemon_runs_is_announced_and_a_new_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with run_edged(tmp_path, config=journal_in(tmp_path, tmp_path)) as daemon, watched(daemon) as raw:
        assert has_more(raw, 10)
        for file in tmp_path.glob("journal.sqlite*"):
            file.unlink()
        eventually(lambda: messages_of(raw, "journal_removed"))
        assert has_more(raw, 10)
        assert conserves(daemon.stop())
    kept = journal_of(path)
    (message,) = messages_of(raw, "journal_removed")
    assert f" to {min(kept) - 1}, which it held, cannot be fetched any more" in message
    assert {seen.seq for seen in raw.seen if seen.seq >= min(kept)} <= kept.keys()


@pytest.mark.deep
def test_a_wall_clock_that_is_wrong_at_one_start_empties_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, config, path = WallClock(tmp_path), journal_in(tmp_path, tmp_path), tmp_path / "journal.sqlite"
    kept: set[int] = set()
    for days in (0, 60, -20_000, 0):  # true, far ahead, in 1971, true
        clock.jump(days * 86_400)
        with monkeypatch.context() as daemons:
            for name, value in clock.environment.items():
                daemons.setenv(name, value)
            with run_edged(tmp_path, config=config) as daemon, watched(daemon) as raw:
                assert has_more(raw, 2 * TRIM_EVERY)  # what is beyond a limit has gone by then
                daemon.stop()
        assert kept < journal_of(path).keys()
        kept = set(journal_of(path))


def test_a_journal_of_a_newer_edged_ends_run_and_export_with_exit_code_2(tmp_path: Path) -> None:
    config, path = journal_in(tmp_path, tmp_path), tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with run_edged(tmp_path, config=config) as daemon:
        assert daemon.process.wait(LIMIT_S) == 2
    assert "layout 7, and edged" in daemon.log()
    exported = edged("export", tmp_path / "edged.yaml")
    assert exported.returncode == 2
    assert "layout 7, and edged" in exported.stderr
    assert path.read_bytes() == before


@pytest.mark.deep
def test_a_disk_that_is_read_only_at_the_start_holds_nothing_up(tmp_path: Path) -> None:
    with mounted(tmp_path / "tmpfs", "-t", "tmpfs", "-o", "ro,size=8m", "none") as disk:
        with run_edged(tmp_path, config=journal_in(tmp_path, disk)) as daemon, watched(daemon) as raw:
            assert b'"journaled":false' in raw.seen[0].json
            assert errors(daemon, "read_only") > 0
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            eventually(lambda: messages_of(raw, "journal_recovered"))
            eventually(lambda: b'"journaled":true' in raw.seen[-1].json)
            assert conserves(daemon.stop())
        assert journal_of(disk / "journal.sqlite")
