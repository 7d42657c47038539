"""List the cameras of this host. Needs no OpenCV."""

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path

# include/uapi/linux/videodev2.h: struct v4l2_capability is driver, card, bus_info, version, capabilities,
# device_caps and three reserved words
CAPABILITY = struct.Struct("16s32s32sIII12x")
VIDIOC_QUERYCAP = 0x80685600
VIDEO_CAPTURE = 0x1 | 0x1000  # of one plane or of several


@dataclass(frozen=True)
class CameraFound:
    """A Video4Linux capture device. `path`: the one that stays the same over reboots, if there is one."""

    name: str
    path: str
    problem: str | None

    @property
    def usable(self) -> bool:
        """Return whether the device can be opened; if not, `problem` says why."""
        return self.problem is None


def list_cameras(sys: Path = Path("/sys/class/video4linux"), dev: Path = Path("/dev")) -> tuple[CameraFound, ...]:
    """Return all capture devices, in the order of their numbers.

    Empty where there are none, never an exception.
    """
    nodes = sorted(sys.glob("video*"), key=lambda node: (len(node.name), node.name))
    found = (_examine(node, dev) for node in nodes)
    return tuple(camera for camera in found if camera)


def _examine(node: Path, dev: Path) -> CameraFound | None:
    device = dev / node.name
    problem = None
    try:
        if not _captures(device):  # a camera has a second node for metadata; codecs and tuners have theirs
            return None
    except OSError as error:
        problem = _reason(error)
    return CameraFound(_name(node), str(_lasting_path(device, dev / "v4l/by-id")), problem)


def _captures(device: Path) -> bool:
    handle = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    try:
        answer = fcntl.ioctl(handle, VIDIOC_QUERYCAP, bytes(CAPABILITY.size))
    finally:
        os.close(handle)
    return bool(CAPABILITY.unpack(answer)[5] & VIDEO_CAPTURE)


def _reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "permission denied: add this user to the group `video`"
    return (error.strerror or str(error)).lower()


def _name(node: Path) -> str:
    try:
        return (node / "name").read_text().strip()
    except OSError:
        return node.name


def _lasting_path(device: Path, by_id: Path) -> Path:
    links = (link for link in sorted(by_id.glob("*")) if link.resolve() == device.resolve())
    return next(links, device)
