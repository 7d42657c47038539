"""A hub's ROUTER socket with a real worker process at its other end."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zmq

from edged.messages import Features, Job, JobFailed, LinkMessage, Scores, Stop, WorkerHello, decode, encode
from edged.model.model_part import Images
from edged.system.process_end import PARENT
from tests.eventually import LIMIT_MS, LIMIT_S


class WorkerUnderTest:
    """The process and the hub's end of its link."""

    def __init__(self, process: "subprocess.Popen[str]", socket: "zmq.Socket[bytes]") -> None:
        self.process = process
        self._socket = socket
        self.identity = b""

    def hello(self) -> WorkerHello:
        hello = self._receive()
        assert isinstance(hello, WorkerHello)
        return hello

    def submit(self, number: int, images: Images, top: int = 3) -> None:
        job = Job(job=number, frames=len(images), top=top, timeout_s=60)
        self.send(encode(job), *[image.tobytes() for image in images])

    def answer(self) -> Scores | JobFailed:
        answer = self._receive()
        assert isinstance(answer, Scores | JobFailed)
        return answer

    def features(self) -> tuple[Features, bytes]:
        """The answer of a part that ends at a cut, and its payload."""
        assert self._socket.poll(LIMIT_MS), "no message"
        _, header, payload = self._socket.recv_multipart()
        features = decode(header)
        assert isinstance(features, Features)
        return features, payload

    def says(self) -> tuple[LinkMessage, list[bytes]]:
        """Its next message, whatever it is, and the payloads."""
        assert self._socket.poll(LIMIT_MS), "no message"
        _, header, *payloads = self._socket.recv_multipart()
        return decode(header), payloads

    def send(self, *parts: bytes) -> None:
        self._socket.send_multipart([self.identity, *parts])

    def stop(self) -> None:
        self.send(encode(Stop()))

    def exit_code(self) -> int:
        return self.process.wait(LIMIT_S)

    def errors(self) -> str:
        """What it has printed, once it has ended."""
        return self.process.communicate(timeout=LIMIT_S)[1]

    def _receive(self) -> LinkMessage:
        assert self._socket.poll(LIMIT_MS), "no message"
        self.identity, header = self._socket.recv_multipart()
        return decode(header)


@contextmanager
def worker_process(
    folder: Path, config: str, index: int = 0, *, by_hub: bool = True, programs: Path | None = None
) -> Iterator[WorkerUnderTest]:
    """`edged worker` on the YAML text `config`, as a hub starts it or a person; ended at the end.

    `programs`: its cache; default: an empty one.
    """
    file = folder / "config.yaml"
    file.write_text(config)
    address = f"ipc://{folder}/hub"
    context = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    socket.bind(address)
    command = [sys.executable, "-m", "edged", "worker", str(index), "--config", str(file), "--hub", address]
    environment = os.environ | {"XDG_CACHE_HOME": str(programs or folder / "cache")}
    if by_hub:
        environment[PARENT] = str(os.getpid())
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    )
    try:
        yield WorkerUnderTest(process, socket)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_S)
        socket.close(linger=0)
        context.term()
