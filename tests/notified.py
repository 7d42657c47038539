"""systemd's end of the socket that NOTIFY_SOCKET names."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Notified:
    """What was told, one list of lines a message, as it comes."""

    def __init__(self, receiver: socket.socket) -> None:
        self.messages: list[list[str]] = []
        self._receiver = receiver

    @property
    def lines(self) -> list[str]:
        return [line for message in self.messages for line in message]

    def listen(self) -> None:
        while message := self._receiver.recv(4096):
            self.messages.append(message.decode().split("\n"))


@contextmanager
def notified(folder: Path, patch: pytest.MonkeyPatch, abstract: bool = False) -> Iterator[Notified]:
    """Listen, and say where in the environment."""
    address = f"\0{folder.name}-{os.getpid()}" if abstract else str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address)
        patch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
        heard = Notified(receiver)
        thread = threading.Thread(target=heard.listen)
        thread.start()
        try:
            yield heard
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                end.sendto(b"", address)
            thread.join()
