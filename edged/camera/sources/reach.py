"""Check that a stream's address answers, before FFmpeg takes seconds to fail without a reason."""

import os
import socket
from urllib.parse import urlsplit, urlunsplit

from edged.errors import CameraError

PATIENCE_S = 1.0
PORTS = {"rtsp": 554, "rtsps": 322, "http": 80, "https": 443}


def reach(url: str, shown: str) -> None:
    """Connect to the host of `url`, then close. Raises CameraError that names `shown` and what to check."""
    parts = urlsplit(url)
    if parts.scheme.startswith("http") and "http_proxy" in os.environ:
        return  # FFmpeg connects to the proxy, which may reach hosts that this one cannot
    place = (parts.hostname or "", parts.port or PORTS[parts.scheme.lower()])
    try:
        socket.create_connection(place, PATIENCE_S).close()
    except socket.gaierror:
        raise CameraError(f"{shown} gives no video: no host is known by the name {place[0]}") from None
    except ConnectionRefusedError:
        reason = f"the host is there, but nothing listens at its port {place[1]}"
        raise CameraError(f"{shown} gives no video: {reason}") from None
    except TimeoutError:
        reason = f"nobody answers within {PATIENCE_S:g} s: is the camera on, and in this network?"
        raise CameraError(f"{shown} gives no video: {reason}") from None
    except OSError as error:
        raise CameraError(f"{shown} gives no video: {error.strerror or error}") from None


def without_secrets(url: str) -> str:
    """Return `url` without user, password and query, for messages."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
