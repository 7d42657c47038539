"""A camera that stays plugged in, but whose driver gives no buffers, or errors."""

import time

import pytest

from trials.vm.guest import vivid
from trials.vm.guest.listener import Listener
from trials.vm.guest.reports import MAX_AGE_S, PROMISED_S, age_s
from trials.vm.guest.service import metric


@pytest.mark.promise("a camera is down within 3 s, and back within 3 s of its return")
def test_a_camera_whose_buffers_stop_is_down_until_they_come_again(listener: Listener) -> None:
    vivid.control("percentage_of_dropped_buffers", 100)
    down = listener.event("camera_down", time.monotonic())
    assert metric("edged_camera_up", camera="door") == 0
    last = listener.predictions("door")[-1]
    assert listener.next_prediction("calm", down.at)
    again, again_at = time.monotonic(), time.time()
    vivid.control("percentage_of_dropped_buffers", 0)
    first = listener.next_captured("door", again_at)
    assert down.at - last.at < PROMISED_S
    assert first.at - again < PROMISED_S
    print(f"down {down.at - last.at:.2f} s after the last prediction, the next one after {first.at - again:.2f} s")


@pytest.mark.promise("a camera is down within 3 s, and back within 3 s")
def test_a_driver_whose_stream_fails_is_opened_again(listener: Listener) -> None:
    failed = time.monotonic()
    vivid.control("inject_fatal_streaming_error")
    down = listener.event("camera_down", failed)
    first = listener.next_captured("door", down.fields["at"])
    assert down.at - failed < PROMISED_S
    assert first.at - down.at < PROMISED_S
    print(f"the next prediction after {first.at - down.at:.2f} s")


def test_a_driver_that_refuses_at_first_to_stream_again_is_asked_again(listener: Listener) -> None:
    failed = time.monotonic()
    vivid.control("inject_vidioc_streamon_error")
    vivid.control("inject_fatal_streaming_error")
    down = listener.event("camera_down", failed)
    first = listener.next_captured("door", down.fields["at"])
    print(f"the next prediction after {first.at - down.at:.2f} s")


def test_broken_and_lost_buffers_make_no_frame_stale(listener: Listener) -> None:
    begun = time.monotonic()
    for button in ("inject_v4l2_buf_flag_error", "inject_vidioc_qbuf_error", "inject_vidioc_qbuf_error"):
        vivid.control(button)
        listener.next_prediction("calm", time.monotonic())
    lost, lost_at = time.monotonic(), time.time()
    first = listener.next_captured("door", lost_at)
    assert max(age_s(each) for each in listener.predictions("door", begun)) < MAX_AGE_S
    print(f"the next prediction {first.at - lost:.2f} s after the last error")
