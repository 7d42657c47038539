"""The camera is unplugged, and plugged in again, under the running service."""

import time
from pathlib import Path

import pytest

from trials.vm.guest import vivid
from trials.vm.guest.listener import Listener
from trials.vm.guest.reports import MAX_AGE_S, PROMISED_S, age_s, captured_at
from trials.vm.guest.service import camera_process, metric, start, write_config

ROUNDS = 5


@pytest.mark.promise("a camera gives frames within 3 s of being plugged in")
def test_a_camera_that_is_plugged_in_for_the_first_time_may_be_opened() -> None:
    assert "video4linux" not in Path("/proc/devices").read_text(), "this must be the machine's first test"
    write_config()
    start()
    listener = Listener()
    listener.start()
    listener.next_prediction("calm", 0)
    vivid.load()
    plugged = time.monotonic()
    first = listener.next_prediction("door", plugged)
    listener.stop()
    assert first.at - plugged < PROMISED_S
    print(f"first prediction after {first.at - plugged:.2f} s")


@pytest.mark.promise("a camera is down within 3 s, and back within 3 s of its return")
def test_an_unplugged_camera_is_down_at_once_and_back_without_a_stale_frame(listener: Listener) -> None:
    fell, returned = [], []
    descriptors = camera_process().num_fds()
    for _ in range(ROUNDS):
        unplugged = time.monotonic()
        vivid.unplug()
        gone_at = time.time()
        down = listener.event("camera_down", unplugged)
        assert metric("edged_camera_up", camera="door") == 0
        assert listener.next_prediction("calm", down.at)
        plugged, plugged_at = time.monotonic(), time.time()
        vivid.plug()
        first = listener.next_prediction("door", plugged)
        assert not [each for each in listener.predictions("door") if gone_at < captured_at(each) < plugged_at]
        assert captured_at(first) > plugged_at
        fell.append(down.at - unplugged)
        returned.append(first.at - plugged)
    assert max(fell) < PROMISED_S
    assert max(returned) < PROMISED_S
    assert max(age_s(each) for each in listener.predictions("door")) < MAX_AGE_S
    assert metric("edged_camera_up", camera="door") == 1
    assert camera_process().num_fds() <= descriptors
    print(f"down after {max(fell):.2f} s at most, first prediction again after {max(returned):.2f} s at most")
