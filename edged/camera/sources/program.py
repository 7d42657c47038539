"""A camera that is the standard output of a program: rpicam-vid, ffmpeg, gst-launch-1.0, gphoto2."""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import IO, NoReturn, cast

import av
import numpy as np

from edged.camera.sources.jpeg_parts import START, JpegSplitter
from edged.camera.sources.source import Picture
from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.config.camera import PROGRAM_PREFIX
from edged.errors import CameraError
from edged.messages import USUAL_WAIT_S
from edged.pictures.decode import decode_picture
from edged.pictures.prepare import Pixels
from edged.system.plain_text import plain
from edged.system.process_end import describe_exit, die_with

OPEN_TIMEOUT_S = 10.0  # a camera's libraries need seconds to start
READ_TIMEOUT_S = USUAL_WAIT_S
GRACE_S = 1.0  # for a program to free its device
CHUNK = 65_536
LAST_LINES, LINE_BYTES = 3, 200  # of its standard error, for a message
PROBED = {"probesize": "262144", "analyzeduration": "500000"}  # bytes and µs; FFmpeg's defaults delay by seconds


class Program:
    """Runs a program in a process group of its own, and reads Motion JPEG, or what FFmpeg recognises."""

    def __init__(
        self, source: str, open_timeout_s: float = OPEN_TIMEOUT_S, read_timeout_s: float = READ_TIMEOUT_S
    ) -> None:
        """`source`: exec: and a command, which no shell sees."""
        self._command = shlex.split(source.removeprefix(PROGRAM_PREFIX))
        self._shown = f"{PROGRAM_PREFIX}{plain(os.path.basename(self._command[0]))}"  # arguments may be secrets
        self._open_timeout_s, self._read_timeout_s = open_timeout_s, read_timeout_s
        self._output: ProgramOutput | None = None
        self._pictures: Iterator[bytes | Pixels] | None = None

    @property
    def longest_wait_s(self) -> float:
        """Return the time-out of a read; of the program's start, while it does not run."""
        return self._read_timeout_s if self._output else self._open_timeout_s

    def open(self) -> None:
        """Start the program. Raises CameraError if it cannot be started, or writes nothing."""
        self.close()
        try:
            self._output = output = ProgramOutput(self._command)
            output.allow(self._open_timeout_s)
            first = output.peek(len(START))
        except OSError as error:
            self._fail(
                f"cannot be started: {error.strerror}" if error.strerror else self._silence(self._open_timeout_s)
            )
        if not first:
            self._fail("has ended")
        if first.startswith((START, b"--")):
            self._pictures = _jpegs(output)
        else:
            self._pictures = _video(output)

    def read(self) -> Picture:
        """Read the next picture.

        Raises CameraError when the program has ended or is stuck, ImageError for a picture that is cut short.
        """
        if self._output is None or self._pictures is None:
            raise CameraError(f"{self._shown} is not running")
        self._output.allow(self._read_timeout_s)
        try:
            found = next(self._pictures, None)
        except TimeoutError:
            self._fail(self._silence(self._read_timeout_s))
        except (av.FFmpegError, ValueError) as error:
            self._fail(f"writes what FFmpeg cannot decode: {error}")
        if found is None:
            self._fail("has ended")
        name = f"a picture of {self._shown}"
        return Picture(decode_picture(found, name) if isinstance(found, bytes) else found)

    def close(self) -> None:
        """End the program and all that it has started."""
        self._pictures = None
        if self._output:
            self._output.end()
        self._output = None

    def _silence(self, seconds: float) -> str:
        return f"has stalled: no picture for {seconds:g} s"

    def _fail(self, why: str) -> NoReturn:
        """End the program, and raise a CameraError with how it ended and its last lines."""
        output, self._output = self._output, None
        self._pictures = None
        words = output.end() if output else []
        raise CameraError("; ".join([f"{self._shown} {why}", *words]))


class ProgramOutput:
    """The standard output of a running program, as a file that PyAV can read; a read may end with TimeoutError."""

    def __init__(self, command: list[str]) -> None:
        """Start `command`, which the kernel kills with this process. Raises OSError."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=partial(die_with, os.getpid()),  # noqa: PLW1509 - calls prctl(2) alone
        )
        self._handle = cast(IO[bytes], self._process.stdout).fileno()
        self._begin = b""
        self._until_ns = 0
        self._has_ended = False
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._listener = threading.Thread(target=self._listen, name="stderr", daemon=True)
        self._listener.start()

    def allow(self, seconds: float) -> None:
        """Set how long the reads from now on may take in all."""
        self._until_ns = now_ns() + nanoseconds(seconds)

    def peek(self, count: int) -> bytes:
        """Return the first bytes, which stay to be read: `count`, or all there are."""
        while len(self._begin) < count and (data := self._read(CHUNK)):
            self._begin += data
        return self._begin[:count]

    def read(self, count: int = CHUNK) -> bytes:
        """Return some bytes, at most `count`; none at the end. Raises TimeoutError."""
        if self._begin:
            data, self._begin = self._begin[:count], self._begin[count:]
            return data
        return self._read(count)

    def end(self) -> list[str]:
        """End the program's group; return how it ended, if by itself, and its last lines."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S if self._has_ended else 0)
        code = self._process.poll()
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._listener.join(GRACE_S)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        return [*([] if code is None else [f"it {describe_exit(code)}"]), *self._last_lines]

    def _read(self, count: int) -> bytes:
        left_s = max(0.0, (self._until_ns - now_ns()) / NANOSECONDS)
        if not select.select([self._handle], [], [], left_s)[0]:
            raise TimeoutError
        data = os.read(self._handle, count)
        self._has_ended = not data
        return data

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _listen(self) -> None:
        lines = cast(IO[bytes], self._process.stderr)
        with contextlib.suppress(ValueError, OSError):
            while line := lines.readline(LINE_BYTES):
                if text := plain(line.decode(errors="replace").strip()):
                    self._last_lines.append(text)


def _jpegs(output: ProgramOutput) -> Iterator[bytes]:
    splitter = JpegSplitter()
    while data := output.read():
        splitter.add(data)
        while content := splitter.next_picture():
            yield content


def _video(output: ProgramOutput) -> Iterator[Pixels]:
    with av.open(output, mode="r", options=PROBED) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"  # each further decoding thread delays a picture
        stream.codec_context.flags |= av.codec.context.Flags.low_delay
        for frame in container.decode(stream):
            yield np.ascontiguousarray(frame.to_ndarray(format="rgb24"), np.uint8)
