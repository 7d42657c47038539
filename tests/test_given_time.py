"""What counts as time that the machine gave us."""

import subprocess
import sys
import time

import psutil
import pytest

from tests.eventually import eventually
from tests.given_time import Account, GivenTime, accounts, spent_between, unstarved

WORKS = "import time\nwhile time.process_time() < {seconds}: pass\n"
US, HUB, WORKER = 1, 2, 3


def test_the_share_of_others_does_not_count_where_it_is_large() -> None:
    cores = psutil.cpu_count() or 1
    assert unstarved(10.0, others_s=0.0) == 10.0
    assert unstarved(10.0, others_s=2.0 * cores) == 10.0
    assert unstarved(10.0, others_s=5.0 * cores) == 5.0
    assert unstarved(10.0, others_s=11.0 * cores) == 0.0
    assert unstarved(0.0, others_s=0.0) == 0.0


def test_time_goes_on_from_what_has_passed_and_never_faster_than_the_clock() -> None:
    start_s = time.monotonic()
    given = GivenTime(passed_s=100.0)
    eventually(lambda: given.seconds() > 100.0)
    assert given.seconds() - 100.0 <= time.monotonic() - start_s


def test_what_a_process_of_ours_spent_is_ours_after_its_end_too() -> None:
    before = accounts()
    subprocess.run([sys.executable, "-c", WORKS.format(seconds=0.5)], check=True)
    assert spent_between(before, accounts()) >= 0.4  # the kernel counts to 10 ms


def test_what_a_worker_spent_before_its_end_counts_once() -> None:
    before = {US: Account(1, 0), HUB: Account(10, US), WORKER: Account(60, HUB)}
    worker_ended = {US: Account(1, 0), HUB: Account(10 + 63, US)}
    assert spent_between(before, worker_ended) == 3


def test_a_worker_that_outlived_its_hub_takes_nothing_away() -> None:
    before = {US: Account(1, 0), HUB: Account(10, US), WORKER: Account(60, HUB)}
    both_killed = {US: Account(1 + 11, 0)}
    assert spent_between(before, both_killed) == 1


def test_a_new_process_counts_from_its_beginning() -> None:
    assert spent_between({US: Account(1, 0)}, {US: Account(2, 0), HUB: Account(4, US)}) == pytest.approx(5)
