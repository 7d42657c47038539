"""The kernel's own camera: a driver that draws its pictures, and can be unplugged and made to fail."""

import subprocess
from pathlib import Path

from tests.eventually import eventually

# One device that is a webcam and nothing else.
OPTIONS = ("n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0")
DRIVER = Path("/sys/bus/platform/drivers/vivid")
DEVICE = "vivid.0"
LINK = Path(f"/dev/v4l/by-path/platform-{DEVICE}-video-index0")


def load() -> None:
    """Load the driver where it is not; the camera is there then."""
    subprocess.run(["modprobe", "vivid", *OPTIONS], check=True)
    _wait_for_the_link(True)


def unplug() -> None:
    """Take the device from its driver, whoever uses it. udev takes the link away."""
    (DRIVER / "unbind").write_text(DEVICE)
    _wait_for_the_link(False)


def plug() -> None:
    """Give it back; with it all its controls are as they were at first."""
    (DRIVER / "bind").write_text(DEVICE)
    _wait_for_the_link(True)


def control(name: str, value: int = 1) -> None:
    """Set one of its controls; a button is pressed."""
    subprocess.run(["v4l2-ctl", f"--device={LINK}", f"--set-ctrl={name}={value}"], check=True)


def is_plugged() -> bool:
    return (DRIVER / DEVICE).exists()


def _wait_for_the_link(there: bool) -> None:
    eventually(lambda: LINK.exists() is there)
