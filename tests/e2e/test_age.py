"""How old predictions are when they arrive, and what they say of it."""

import signal
import time
from pathlib import Path

import pytest

from tests.e2e.daemon import MAX_AGE_S, STAMP_S, conserves, run_edged
from tests.e2e.daemon_use import rejected
from tests.e2e.heard import flooded, heard_from, longest_gap_s, predictions
from tests.e2e.lateness import Lateness
from tests.eventually import eventually
from tests.given_time import GivenTime

STOPPED_S = 4.0  # longer than a camera may be silent
FLOODING = 100  # subscribers that were disconnected
GAP_S = 0.3


def age_s(prediction: dict[str, object]) -> float:
    """By what the hub says itself, and not by when we heard of it."""
    return float(str(prediction["published_at"])) - float(str(prediction["captured_at"]))


@pytest.mark.promise("no prediction is older than 0.5 s when it is published")
def test_after_the_hub_stood_still_nothing_too_old_goes_out_and_no_camera_is_called_down(tmp_path: Path) -> None:
    lateness = Lateness()
    with run_edged(tmp_path) as daemon, heard_from(daemon) as heard:
        eventually(lambda: len(predictions(heard)) > 20)
        lateness.start()
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)
        daemon.process.send_signal(signal.SIGCONT)
        before = len(predictions(heard))
        eventually(lambda: len(predictions(heard)) > before + 30)
        assert max(map(age_s, predictions(heard))) <= MAX_AGE_S + STAMP_S + lateness.stop()
        events = [each.fields["event"] for each in heard if each.topic.endswith(b"/event")]
        assert "camera_down" not in events
        assert "worker_lost" not in events
        assert "the hub paused for" in daemon.log()
        assert conserves(daemon.stop())


@pytest.mark.promise("no prediction waits 0.3 s for a crowd of subscribers with thousands of topics each")
@pytest.mark.parametrize(("kind", "crowd"), [("flood", 150), ("flood", 700), ("rise", 700)])
def test_subscribers_with_topics_by_the_thousand_hold_up_neither_the_hub_nor_the_stream(
    tmp_path: Path, kind: str, crowd: int
) -> None:
    with run_edged(tmp_path) as daemon, heard_from(daemon) as heard:
        eventually(lambda: len(predictions(heard)) > 20)
        lateness = Lateness()
        lateness.start()
        given, start_s = GivenTime(), time.monotonic()
        before = len(heard)
        with flooded(daemon, kind, crowd):
            eventually(lambda: rejected(daemon, "too_much") > FLOODING)
        left = len(predictions(heard))
        eventually(lambda: len(predictions(heard)) > left + 30)
        share = given.seconds() / (time.monotonic() - start_s)
        assert share * longest_gap_s(heard[before:]) <= GAP_S + lateness.stop()
        assert "camera_down" not in [each.fields["event"] for each in heard if each.topic.endswith(b"/event")]
        assert conserves(daemon.stop())
