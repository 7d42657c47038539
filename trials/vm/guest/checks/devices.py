"""Which devices the service's processes may open, and that each camera has one process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.systemd.inside.unit import prop
from trials.vm.guest import vivid
from trials.vm.guest.listener import Listener
from trials.vm.guest.service import camera_process

OPEN = (vivid.LINK, Path("/dev/null"), Path("/dev/urandom"))
CLOSED = (Path("/dev/vda"), Path("/dev/mem"), Path("/dev/kmsg"), Path("/dev/console"))
OPENER = """
import errno, json, os, sys
group, *paths = sys.argv[1:]
open(f"{group}/cgroup.procs", "w").write("0")
told = {}
for path in paths:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        told[path] = "opened"
    except OSError as error:
        told[path] = errno.errorcode[error.errno]
print(json.dumps(told))
"""
SECOND = """
import sys
from edged.camera.sources.v4l2 import V4l2
from edged.errors import CameraError
try:
    V4l2(sys.argv[1]).open()
except CameraError as error:
    print(error)
"""


def test_in_the_service_even_root_may_open_cameras_and_no_disk_memory_or_kernel_log(listener: Listener) -> None:
    assert opening(OPEN) == {str(path): "opened" for path in OPEN}
    assert opening(CLOSED) == {str(path): "EPERM" for path in CLOSED}


def test_a_second_process_is_refused_the_camera_with_the_name_of_its_holder(listener: Listener) -> None:
    second = subprocess.run(
        ["setpriv", "--reuid=edged", "--regid=edged", "--init-groups", sys.executable, "-c", SECOND, vivid.LINK],
        env={**os.environ, "STATE_DIRECTORY": "/var/lib/edged"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"camera-{vivid.LINK.resolve()} is in use by process {camera_process().pid} " in second.stdout
    assert listener.next_captured("door", time.time())
    print(second.stdout)


def opening(paths: Sequence[Path]) -> dict[str, str]:
    """What each device says to a process of root's in the service's control group: `opened`, or why not."""
    told = subprocess.run(
        [sys.executable, "-c", OPENER, f"/sys/fs/cgroup{prop('ControlGroup')}", *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(told.stdout))
