"""The service's main process is killed, stands still, and is told to read its config again."""

import signal
import time

import psutil

from tests.systemd.inside.unit import CONFIG, hub, kill, prop, systemctl, text
from trials.vm.guest.listener import Listener
from trials.vm.guest.service import CALM, DOOR, family, write_config


def test_a_killed_hub_is_back_with_its_camera_and_goes_on_counting(listener: Listener) -> None:
    last, before = listener.predictions("door")[-1], family()
    killed = time.monotonic()
    kill(signal.SIGKILL)
    first = listener.next_boot("door", last.fields["boot"])
    assert first.fields["seq"] > last.fields["seq"]
    assert not [pid for pid in before if psutil.pid_exists(pid)]
    print(f"predictions again after {first.at - killed:.1f} s")


def test_a_hub_that_stands_still_is_aborted_by_the_watchdog_and_started_again(listener: Listener) -> None:
    stopped, stopped_at = time.monotonic(), time.time()
    before = kill(signal.SIGSTOP)
    first = listener.next_boot("door", listener.predictions("door")[-1].fields["boot"])
    assert hub() != before
    assert "Watchdog timeout" in text(stopped_at)
    assert "Fatal Python error: Aborted" in text(stopped_at)
    print(f"predictions again after {first.at - stopped:.1f} s")


def test_a_reload_changes_the_camera_and_a_bad_config_changes_nothing(listener: Listener) -> None:
    before, begun = hub(), time.monotonic()
    write_config(cameras={"gate": DOOR, "calm": CALM})
    assert systemctl("reload", "edged").returncode == 0
    first = listener.next_prediction("gate", begun)
    CONFIG.write_text("cameras: 1")
    assert systemctl("reload", "edged").returncode != 0
    assert listener.next_prediction("gate", time.monotonic())
    assert (prop("ActiveState"), hub()) == ("active", before)
    print(f"the renamed camera's first prediction {first.at - begun:.1f} s after the change of the file")
