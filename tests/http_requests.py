"""Programs that send pictures to edged over HTTP: curl, and one that sends whatever bytes it likes."""

import json
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.eventually import LIMIT_S

BOUNDARY = "edge"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    json: Any


def curl(url: str, *arguments: str | Path) -> Reply:
    """The answer that curl gets."""
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    command = [
        "curl",
        "--silent",
        "--show-error",
        "--include",
        "--max-time",
        str(LIMIT_S),
        *map(str, arguments),
        url,
    ]
    done = subprocess.run(command, capture_output=True, check=True)
    return reply_in(done.stdout)


def reply_in(answer: bytes) -> Reply:
    """The answer in the bytes of a connection, after any `100 Continue`."""
    head, _, body = answer.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 100"):
        head, _, body = body.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Reply(int(first.split()[1]), headers, json.loads(body))


def connected(port: int, sent: bytes = b"") -> socket.socket:
    """A connection on which this was sent."""
    peer = socket.create_connection((HOST, port), timeout=LIMIT_S)
    peer.sendall(sent)
    return peer


def rest_of(peer: socket.socket) -> bytes:
    """What comes until the other end closes the connection."""
    return b"".join(iter(lambda: peer.recv(65536), b""))


def post(path: str, body: bytes, content_type: str = FORM, **headers: Any) -> bytes:
    """A request as bytes, that is the last of its connection. A header replaces that of its name."""
    fields = {"Host": HOST, "Content-Type": content_type, "Content-Length": len(body), "Connection": "close"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**fields, **given}.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def form(picture: bytes, name: str = "image", **fields: str) -> bytes:
    """The body of a form with a file and fields."""
    parts = [(f'name="{field}"', value.encode()) for field, value in fields.items()]
    parts.append((f'name="{name}"; filename="a.jpg"', picture))
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
    body = b"".join(f"{head}{what}\r\n\r\n".encode() + value + b"\r\n" for what, value in parts)
    return body + f"--{BOUNDARY}--\r\n".encode()


def png(pixels: NDArray[np.uint8]) -> bytes:
    """The file of a picture in RGB, [height, width, 3]."""
    return cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1].tobytes()
