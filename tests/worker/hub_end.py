"""The hub's end of the link, by hand, to which a real worker process talks."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.messages import Features, Job, JobFailed, LinkMessage, Scores, Stop, WorkerHello, decode, encode
from edged.model.model_part import Images
from edged.system.process_end import PARENT
from tests.eventually import LIMIT_S
from tests.link_ends import HubEnd


class WorkerUnderTest:
    """The process and the hub's end of its link."""

    def __init__(self, process: "subprocess.Popen[str]", link: HubEnd) -> None:
        self.process = process
        self._link = link

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
        features, [payload] = self.says()
        assert isinstance(features, Features)
        return features, payload

    def says(self) -> tuple[LinkMessage, list[bytes]]:
        """Its next message, whatever it is, and the payloads."""
        parts = self._link.receive()
        assert parts, "no message"
        return decode(parts[0]), parts[1:]

    @property
    def peer(self) -> str:
        """Its name on the link."""
        return self._link.peer

    def send(self, *parts: bytes) -> None:
        self._link.send(*parts)

    def stop(self) -> None:
        self.send(encode(Stop()))

    def exit_code(self) -> int:
        return self.process.wait(LIMIT_S)

    def errors(self) -> str:
        """What it has printed, once it has ended."""
        return self.process.communicate(timeout=LIMIT_S)[1]

    def _receive(self) -> LinkMessage:
        message, payloads = self.says()
        assert not payloads
        return message


@contextmanager
def worker_process(
    folder: Path, config: str, index: int = 0, *, by_hub: bool = True, programs: Path | None = None
) -> Iterator[WorkerUnderTest]:
    """`edged worker` on the YAML text `config`, as a hub starts it or a person; ended at the end.

    `programs`: its cache; default: an empty one.
    """
    file = folder / "config.yaml"
    file.write_text(config)
    address = f"unix://{folder}/hub"
    link = HubEnd(address)
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
        yield WorkerUnderTest(process, link)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_S)
        link.close()
