"""Teach for the page: one command of `edged teach` at a time, and changes of crops in between.

What calls a driver, trains or talks to the daemon is a process, as in a terminal: it cannot end the page. Crops
and versions are read and changed here.
"""

import json
import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from edged.errors import EdgedError
from edged.system.plain_text import counted
from edged.view.seen import SeenPictures

log = logging.getLogger("edged.view")

Action = Literal["record", "train", "shadow", "promote", "rollback"]
# no control characters, and so that none is taken for an option
Text = Annotated[str, Field(pattern=r"^[^\-\x00-\x1f\x7f][^\x00-\x1f\x7f]*$", max_length=200)]
WARNING = "edged: warning: "
STOP_S = 10.0
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
RECORD_S = 600


class TeachJobRequest(BaseModel):
    """An action of the page, with the options of that action of `edged teach`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Action
    camera: Text | None = None
    label: Text | None = None
    count: Annotated[int, Field(ge=1, le=1000)] | None = None
    seconds: Annotated[int, Field(ge=1, le=3600)] | None = None
    version: Annotated[str, Field(pattern=r"^[0-9a-f]{4,64}$")] | None = None
    force: bool = False

    def arguments(self, config: Sequence[str]) -> list[str]:
        """Return the arguments of `edged teach`. `config`: the file and its settings."""
        seconds = self.seconds or (RECORD_S if self.action == "record" else None)
        options = {"camera": self.camera, "count": self.count, "duration": seconds}
        if self.action == "record":
            options["label"] = self.label
        flags = [f"--{name}={value}" for name, value in options.items() if value is not None]
        flags += ["--force"] if self.force else []
        place = self.version if self.action in {"shadow", "promote"} else None
        file, *settings = config
        return [self.action, *settings, *flags, "--json", "--", file, *([place] if place else [])]

    def __str__(self) -> str:
        """Name the action as a noun, for the log and for people who wait for its end."""
        match self.action:
            case "record":
                return f"a recording of {self.label} from {self.camera}"
            case "train":
                return "a training"
            case "shadow":
                return f"version {self.version} in shadow"
            case "promote":
                return f"a promotion of version {self.version}" + (", even if it is worse" if self.force else "")
            case "rollback":
                return "a rollback"


class TeachJob:
    """A running or ended command. Its properties may be read in any thread."""

    def __init__(self, number: int, request: TeachJobRequest, user: str, command: Sequence[str]) -> None:
        """Start it. Raises OSError if the system starts no process."""
        self.number = number
        self.request = request
        self.user = user
        self.progress = ""
        self.warnings: list[str] = []
        self.error = ""
        self.result: Any = None
        self.begun_s = time.monotonic()
        self.ended_s: float | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._follow, name="teach", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self.ended_s is None

    def stop(self) -> None:
        """End it as Ctrl-C does: a recording keeps what it has."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End it, by force after a while."""
        self.stop()
        self._thread.join(STOP_S)
        self._process.kill()
        self._thread.join()

    def as_object(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        return {
            "number": self.number,
            "user": self.user,
            **self.request.model_dump(exclude_none=True),
            "is_running": self.is_running,
            "seconds": round((self.ended_s or time.monotonic()) - self.begun_s, 1),
            "progress": self.progress,
            "warnings": self.warnings[-3:],
            "error": self.error,
            "result": self.result,
        }

    def _follow(self) -> None:
        with self._process as process, ThreadPoolExecutor(1) as reader:
            output = reader.submit(_all_of, process.stdout)
            last = self._read_progress(process.stderr)
            text = output.result()
            with suppress(ValueError):  # no JSON
                self.result = json.loads(text)
            if code := process.wait():
                why = last.removeprefix("edged: ").removeprefix("warning: ") or f"it ended with code {code}"
                self.error = "stopped before it began" if code in INTERRUPTED else why
        self.ended_s = time.monotonic()

    def _read_progress(self, lines: IO[str] | None) -> str:
        """Read standard error to its end, and return the last line."""
        last = ""
        for line in lines or ():
            last = line.strip() or last
            if last.startswith(WARNING):
                self.warnings.append(last.removeprefix(WARNING))
            else:
                self.progress = last.removeprefix("edged: ")
        return last


class TeachFolder(Protocol):
    """The crops and versions of a daemon, within this process. Raises EdgedError."""

    def state(self) -> dict[str, Any]:
        """Return labels with their newest crops, the limits and the versions."""

    def png(self, label: str, sha256: str) -> bytes | None:
        """Return the file of a crop; None if there is none."""

    def add(self, pictures: Sequence[tuple[bytes, str, float]], label: str) -> dict[str, Any]:
        """Store pictures as crops: each a JPEG, its camera, and when it was captured."""

    def remove(self, crops: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Delete crops, each a label and a hash."""

    def forget(self, label: str) -> dict[str, Any]:
        """Delete all crops of a label."""


class TeachJobs:
    """The jobs of one daemon, one at a time, and what it has been taught."""

    def __init__(
        self,
        file: Path,
        settings: Sequence[str] = (),
        *,
        folder: TeachFolder,
        node: str = "",
        cameras: Sequence[str] = (),
    ) -> None:
        """`file`: the daemon's config; `settings`: arguments that override it, as `--set=KEY=VALUE`."""
        self.folder = folder
        self.node = node
        self.cameras = tuple(cameras)
        self.current: TeachJob | None = None
        self.seen = SeenPictures()
        self._config = [str(file), *settings]
        self._lock = threading.Lock()

    def start(self, request: TeachJobRequest, user: str) -> TeachJob:
        """Start a job. Raises EdgedError if another one runs, or the system starts no process."""
        with self._lock:
            self._refuse_beside_a_job()
            number = self.current.number + 1 if self.current else 1
            command = [sys.executable, "-m", "edged", "teach", *request.arguments(self._config)]
            try:
                self.current = TeachJob(number, request, user, command)
            except OSError as error:
                raise EdgedError(f"no process can be started: {error.strerror}") from None
        log.info("view: %s started %s", user, request)
        return self.current

    def state(self) -> dict[str, Any]:
        """Return labels and versions."""
        return {"node": self.node, "cameras": self.cameras, **self.folder.state()}

    def label(self, numbers: Sequence[int], label: str, user: str) -> dict[str, Any]:
        """Store seen pictures as crops of a label. Raises EdgedError."""
        with self._lock:
            self._refuse_beside_a_job()
            chosen = self.seen.chosen(numbers)
            if not chosen:
                raise EdgedError("these pictures are no longer kept: choose others")
            result = self.folder.add([(each.picture.jpeg, each.camera, each.at) for each in chosen], label)
            self.seen.forget([each.number for each in chosen])
        log.info("view: %s labelled %s as %s", user, counted(len(chosen), "picture"), label)
        return result

    def delete(self, crops: Sequence[tuple[str, str]], user: str) -> dict[str, Any]:
        """Delete crops, each a label and a hash. Raises EdgedError."""
        with self._lock:
            self._refuse_beside_a_job()
            result = self.folder.remove(crops)
        log.info("view: %s deleted %s", user, counted(result["removed"], "crop"))
        return result

    def forget(self, label: str, user: str) -> dict[str, Any]:
        """Delete all crops of a label. Raises EdgedError."""
        with self._lock:
            self._refuse_beside_a_job()
            result = self.folder.forget(label)
        log.info("view: %s deleted %s of %s", user, counted(result["removed"], "crop"), label)
        return result

    def close(self) -> None:
        """End the running job, with the view."""
        if self.current:
            self.current.close()

    def _refuse_beside_a_job(self) -> None:
        if self.current and self.current.is_running:
            raise EdgedError(
                f"{self.current.user} has started {self.current.request}, which still runs: one job at a time"
            )


def _all_of(stream: IO[str] | None) -> str:
    return stream.read() if stream else ""
