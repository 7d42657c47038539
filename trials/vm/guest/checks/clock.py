"""The machine's wall clock jumps by an hour, and back."""

import time
from itertools import pairwise

import pytest

from trials.vm.guest.listener import Listener
from trials.vm.guest.reports import PROMISED_S
from trials.vm.guest.service import family

HOUR_S = 3600.0
WATCHED = 30


@pytest.mark.promise("predictions go on within 3 s of a jump of the clock")
def test_a_clock_that_jumps_an_hour_moves_no_duration_and_no_deadline(listener: Listener) -> None:
    before, begun = family(), time.monotonic()
    for jump_s in (HOUR_S, -HOUR_S):
        jumped = time.monotonic()
        time.clock_settime(time.CLOCK_REALTIME, time.time() + jump_s)
        newest = listener.next_predictions("door", jumped, WATCHED)[-1]
        assert newest.fields["captured_at"] == pytest.approx(time.time(), abs=PROMISED_S)
    heard = listener.predictions("door", begun)
    for each in heard:
        assert all(0 <= seconds < PROMISED_S for seconds in each.fields["seconds"].values())
    longest = max(later.at - earlier.at for earlier, later in pairwise(heard))
    assert longest < PROMISED_S
    assert family() == before
    print(f"{len(heard)} predictions, none more than {longest:.2f} s after the one before")
