"""The real nats-server with JetStream, on a port and in a folder of its own."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.eventually import eventually

PROGRAM = shutil.which("nats-server", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def has_nats_server() -> None:
    """Skip the test where there is none."""
    if PROGRAM is None:
        pytest.skip("nats-server is not installed (apt install nats-server)")


class NatsServer:
    """A server that can be killed and started again with what it has stored."""

    def __init__(
        self,
        folder: Path,
        port: int,
        *lines: str,
        jetstream: bool = True,
        store: Path | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self._folder, self.port = folder, port
        self.store = store or folder / "jetstream"
        self._process: subprocess.Popen[bytes] | None = None
        stored = [f'jetstream {{ store_dir: "{self.store}" }}'] if jetstream else []
        text = "\n".join([f"listen: {address}:{port}", *stored, *lines])
        (folder / "nats.conf").write_text(text + "\n")

    @property
    def log(self) -> Path:
        return self._folder / "nats.log"

    def start(self, host: Sequence[str] = ()) -> None:
        """`host`: what begins a command on another host."""
        assert PROGRAM
        starts = self._starts()
        with self.log.open("a") as log:
            command = [*host, PROGRAM, "-c", str(self._folder / "nats.conf")]
            process = self._process = subprocess.Popen(command, stdout=log, stderr=log)
        eventually(lambda: self._starts() > starts or process.poll() is not None)
        assert process.poll() is None, self.log.read_text()

    def _starts(self) -> int:
        return self.log.read_text().count("Server is ready") if self.log.exists() else 0

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def nats_server(
    folder: Path, port: int, *lines: str, jetstream: bool = True, store: Path | None = None
) -> Iterator[NatsServer]:
    """Run the server with these lines of its config until the block ends."""
    server = NatsServer(folder, port, *lines, jetstream=jetstream, store=store)
    server.start()
    try:
        yield server
    finally:
        server.kill()
