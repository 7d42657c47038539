"""The service reaches its MemoryMax."""

import time

from tests.eventually import eventually
from tests.systemd.inside.unit import hub, systemctl, text
from trials.vm.guest.listener import WITHIN_S, Listener
from trials.vm.guest.service import anonymous_bytes, oom_kills


def test_at_the_limit_one_child_is_killed_and_started_again_and_the_hub_goes_on(listener: Listener) -> None:
    before, begun, begun_at = hub(), time.monotonic(), time.time()
    killed = oom_kills()
    limit(str(int(0.8 * anonymous_bytes())))
    try:
        eventually(lambda: oom_kills() > killed, WITHIN_S)
    finally:  # at once: what is left has no room for its programs' own pages, and stands nearly still
        limit("infinity")
    free = time.monotonic()
    lost = listener.event("_lost", begun, saying="ran out of memory")  # the kernel chooses which
    first = listener.next_prediction("door", lost.at)
    assert listener.next_prediction("calm", lost.at)
    assert hub() == before
    assert "killed by the OOM killer" in text(begun_at)
    print(f"{lost.fields['message']}; the next prediction {first.at - free:.1f} s after there was memory again")


def limit(memory: str) -> None:
    done = systemctl("set-property", "--runtime", "edged", f"MemoryMax={memory}")
    assert done.returncode == 0, done.stderr
