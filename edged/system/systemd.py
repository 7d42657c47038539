"""The protocol of systemd: sd_notify(3), sd_watchdog_enabled(3), and the life of a camera or worker unit.

Each function does nothing without systemd; none blocks for long, none raises. A camera or worker unit
on another host is ready once its hub has accepted it, and alive while its loop reaches the link, which it does
not while a driver hangs.
"""

import math
import os
import socket
import time
from typing import TextIO

MICROSECONDS = 1_000_000
PATIENCE_S = 0.5  # systemd reads at once; one that does not must not stop the hub
EVERY_S = 1.0  # between two notices
EXTEND_S = 30.0  # requested again each second
BEATS = 3  # of the time that the watchdog gives


def is_started_by_systemd() -> bool:
    """Return whether a unit has started this very process, and not a parent of it."""
    return os.environ.get("SYSTEMD_EXEC_PID") == str(os.getpid())


def is_journal(stream: TextIO) -> bool:
    """Return whether the stream is connected to systemd's journal (systemd.exec(5): device and inode)."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or not a file
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def ready(status: str = "") -> bool:
    """Notify systemd that the service is ready, or has reloaded. Returns False without systemd."""
    return _notify("READY=1", *([f"STATUS={status}"] if status else []))


def status(text: str) -> bool:
    """Set the line that `systemctl status` shows."""
    return _notify(f"STATUS={text}")


def reloading() -> bool:
    """Notify systemd that a reload begins; `ready` must follow."""
    return _notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def stopping() -> bool:
    """Notify systemd that the service is about to end."""
    return _notify("STOPPING=1")


def extend_timeout(seconds: float) -> bool:
    """Notify systemd that starting, reloading or stopping takes so many more seconds."""
    return _notify(f"EXTEND_TIMEOUT_USEC={round(seconds * MICROSECONDS)}")


def watchdog() -> bool:
    """Notify systemd of progress. Never call this from a timer alone: see `edged.hub.systemd_service`."""
    return _notify("WATCHDOG=1")


def watchdog_interval_s() -> float | None:
    """Return seconds after which systemd kills this process if `watchdog` is not called; None: never."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    for_whom = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if for_whom != str(os.getpid()) or not microseconds.isdecimal() or int(microseconds) == 0:
        return None
    return int(microseconds) / MICROSECONDS


def _notify(*lines: str) -> bool:
    path = os.environ.get("NOTIFY_SOCKET", "")
    if path[:1] not in {"/", "@"}:
        return False
    address = "\0" + path[1:] if path.startswith("@") else path  # "@": Linux's abstract namespace
    message = "\n".join(" ".join(line.splitlines()) for line in lines)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(PATIENCE_S)
            sender.connect(address)
            sender.sendall(message.encode(errors="replace"))
    except OSError:
        return False
    return True


class SystemdUnit:
    """Notifies systemd for a camera or worker with a unit of its own; does nothing in a hub's child."""

    def __init__(self) -> None:
        self._is_service = is_started_by_systemd()
        self._is_ready = False
        self._next_s = 0.0

    @property
    def within_s(self) -> float:
        """Return how often `turns` must be called."""
        if not self._is_service:
            return math.inf
        watchdog_s = watchdog_interval_s() or math.inf
        return watchdog_s / BEATS if self._is_ready else EVERY_S

    def joined(self, hub: str) -> None:
        """Report that the hub at this address has accepted us."""
        if self._is_service:
            ready(f"serves the hub at {hub}")
        self._is_ready = True

    def keep_alive(self) -> None:
        """Report that the process listens."""
        if not self._is_service or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + EVERY_S
        if self._is_ready:
            watchdog()
        else:
            status("waits for its hub")
            extend_timeout(EXTEND_S)
