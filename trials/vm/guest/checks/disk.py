"""The disk of the journal is full."""

import subprocess
import time
from pathlib import Path

from trials.vm.guest.listener import Listener
from trials.vm.guest.service import metric

BALLAST = Path("/var/lib/edged/ballast")


def test_on_a_full_disk_predictions_go_on_and_the_journal_works_again_when_there_is_room(
    listener: Listener,
) -> None:
    full = time.monotonic()
    subprocess.run(["dd", "if=/dev/zero", f"of={BALLAST}", "bs=64k"], check=False, capture_output=True)
    try:
        fails = listener.event("journal_failed", full)
        assert "its disk is full" in fails.fields["message"]
        unkept = listener.next_predictions("door", fails.at, 20)
        assert not any(each.fields["journaled"] for each in unkept)
    finally:
        room = time.monotonic()
        BALLAST.unlink()
    works = listener.event("journal_recovered", room)
    assert listener.next_prediction("door", works.at).fields["journaled"]
    assert metric("edged_journal_errors_total", reason="full") > 0
    print(f"told after {fails.at - full:.1f} s, works again {works.at - room:.1f} s after there was room")
