"""List the cameras of this host. Needs no OpenCV."""

import fcntl
import os
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

# include/uapi/linux/videodev2.h: struct v4l2_capability is driver, card, bus_info, version, capabilities,
# device_caps and three reserved words
CAPABILITY = struct.Struct("16s32s32sIII12x")
VIDIOC_QUERYCAP = 0x80685600
# struct v4l2_fmtdesc is index, type, flags, description, pixel format, media bus code and three reserved words
FORMAT = struct.Struct("3I32s4s16x")
VIDIOC_ENUM_FMT = 0xC0405602
ONE_PLANE, MOST_FORMATS = 1, 32
VIDEO_CAPTURE = 0x1 | 0x1000  # of one plane or of several


# drivers of a Raspberry Pi: of its camera connectors, which give raw sensor data, and of what makes pictures of it
CSI = ("unicam", "rp1-cfe")
ISP = ("bcm2835-isp", "bcm2835-codec", "pispbe")
BY_LIBCAMERA = "gives raw sensor data: use source: 'exec:rpicam-vid -t 0 -n --codec mjpeg -o -'"


@dataclass(frozen=True)
class CameraFound:
    """A Video4Linux capture device.

    `path`: the one that stays the same over reboots, if there is one. `formats`: of pixels, by V4L2's names.
    """

    name: str
    path: str
    problem: str | None
    formats: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Return whether the device can be opened; if not, `problem` says why."""
        return self.problem is None


def list_cameras(sys: Path = Path("/sys/class/video4linux"), dev: Path = Path("/dev")) -> tuple[CameraFound, ...]:
    """Return all capture devices, in the order of their numbers.

    Empty where there are none, never an exception.
    """
    nodes = sorted(sys.glob("video*"), key=lambda node: (len(node.name), node.name))
    found = [camera for node in nodes if (camera := _examine(node, dev))]
    names = Counter(camera.name for camera in found)
    return tuple(
        replace(camera, path=str(_lasting_path(Path(camera.path), dev, alone=names[camera.name] == 1)))
        for camera in found
    )


def _examine(node: Path, dev: Path) -> CameraFound | None:
    device = dev / node.name
    if _name(node).startswith(ISP):
        return None
    try:
        formats = _formats(device)  # a camera has a second node for metadata; codecs and tuners have theirs
    except PermissionError:
        return CameraFound(_name(node), str(device), "permission denied: add this user to the group `video`")
    except OSError as error:
        return CameraFound(_name(node), str(device), (error.strerror or str(error)).lower())
    problem = BY_LIBCAMERA if _name(node).startswith(CSI) else None
    return None if formats is None else CameraFound(_name(node), str(device), problem, formats)


def _formats(device: Path) -> tuple[str, ...] | None:
    """Return the formats of a device that captures, as `MJPG` and `YUYV`; None for another device."""
    handle = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    try:
        answer = fcntl.ioctl(handle, VIDIOC_QUERYCAP, bytes(CAPABILITY.size))
        if not CAPABILITY.unpack(answer)[5] & VIDEO_CAPTURE:
            return None
        return tuple(_offered(handle))
    finally:
        os.close(handle)


def _offered(handle: int) -> Iterator[str]:
    for index in range(MOST_FORMATS):
        try:
            answer = fcntl.ioctl(handle, VIDIOC_ENUM_FMT, FORMAT.pack(index, ONE_PLANE, 0, b"", b""))
        except OSError:  # there are no more
            return
        yield FORMAT.unpack(answer)[4].decode("ascii", "replace").strip()


def _name(node: Path) -> str:
    try:
        return (node / "name").read_text().strip()
    except OSError:
        return node.name


def _lasting_path(device: Path, dev: Path, *, alone: bool) -> Path:
    """Return the link to a device that udev makes.

    alone: whether no other camera has its name. Two of one model have one link in by-id, which leads to either of
    them; by the socket they stay apart.
    """
    folders = ("by-id", "by-path") if alone else ("by-path",)
    links = (link for each in folders for link in sorted((dev / "v4l" / each).glob("*")))
    return next((link for link in links if link.resolve() == device.resolve()), device)
