"""Run `edged teach` for the page, one command at a time, and keep its progress.

Each action is a process, as in a terminal: what a driver or a training does there cannot end the page.
"""

import json
import logging
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edged.errors import EdgedError

log = logging.getLogger("edged.view")

Action = Literal["record", "train", "shadow", "promote", "rollback", "forget"]
# no control characters, and so that none is taken for an option
Text = Annotated[str, Field(pattern=r"^[^\-\x00-\x1f\x7f][^\x00-\x1f\x7f]*$", max_length=200)]
WARNING = "edged: warning: "
STATE_S = 5.0  # for which the lists of labels and versions are kept while no job runs
STOP_S = 10.0
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
LIST_S = 120.0
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
        place = {"forget": self.label, "shadow": self.version, "promote": self.version}.get(self.action)
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
            case "forget":
                return f"the deletion of all crops of {self.label}"


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
        """Return whether it has not ended."""
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
            self.result = _json_in(output.result())
            if code := process.wait():
                self.error = "stopped before it began" if code in INTERRUPTED else _reason_in(last, code)
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


class TeachJobs:
    """The jobs of one daemon, one at a time, and what it has been taught."""

    def __init__(
        self, file: Path, settings: Sequence[str] = (), *, node: str = "", cameras: Sequence[str] = ()
    ) -> None:
        """`file`: the daemon's config; `settings`: arguments that override it, as `--set=KEY=VALUE`."""
        self.node = node
        self.cameras = tuple(cameras)
        self.current: TeachJob | None = None
        self._config = [str(file), *settings]
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._state: tuple[float, tuple[int, bool], dict[str, Any]] | None = None  # when, beside which job, what
        self._folder = tempfile.TemporaryDirectory(prefix="edged-view-")

    @property
    def sheet(self) -> Path:
        """Return the picture with the crops; it is written with the state."""
        return Path(self._folder.name) / "crops.png"

    def start(self, request: TeachJobRequest, user: str) -> TeachJob:
        """Start a job. Raises EdgedError if another one runs, or the system starts no process."""
        with self._lock:
            if self.current and self.current.is_running:
                raise EdgedError(
                    f"{self.current.user} has started {self.current.request}, which still runs: one job at a time"
                )
            number = self.current.number + 1 if self.current else 1
            command = self._command(request.arguments(self._config))
            try:
                self.current = TeachJob(number, request, user, command)
            except OSError as error:
                raise EdgedError(f"no process can be started: {error.strerror}") from None
        log.info("view: %s started %s", user, request)
        return self.current

    def state(self) -> dict[str, Any]:
        """Return labels and versions, as `edged teach list` and `versions` print them."""
        with self._reading:
            kept, job = self._state, self._job_now()
            if kept and time.monotonic() - kept[0] < STATE_S and kept[1] == job:
                return kept[2]
            labels, problem = self._read("list", f"--sheet={self.sheet}")
            versions, worse = self._read("versions")
            found = {
                "node": self.node,
                "cameras": self.cameras,
                "labels": labels.get("labels", []),
                "limits": labels.get("limits"),
                "versions": versions.get("versions", []),
                "promoted": versions.get("promoted"),
                "problem": worse or (problem if not labels else ""),
            }
            self._state = time.monotonic(), job, found
            return found

    def close(self) -> None:
        """End the running job, with the view."""
        if self.current:
            self.current.close()
        self._folder.cleanup()

    def _job_now(self) -> tuple[int, bool]:
        """Return the number of the newest job, and whether it runs: what was read before it ended is old."""
        job = self.current
        return (job.number, job.is_running) if job else (0, False)

    def _read(self, action: str, *options: str) -> tuple[dict[str, Any], str]:
        """Return the JSON of an action, and its error. Without crops there is no sheet, which is no error here."""
        file, *settings = self._config
        try:
            ended = subprocess.run(
                self._command([action, *settings, *options, "--json", "--", file]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIST_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return {}, f"edged teach {action}: {error}"
        lines = ended.stderr.strip().splitlines()
        problem = lines[-1].removeprefix("edged: ") if ended.returncode and lines else ""
        return _json_in(ended.stdout) or {}, problem

    @staticmethod
    def _command(arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "edged", "teach", *arguments]


def _reason_in(line: str, code: int) -> str:
    """Return why a command failed, by its last line."""
    return line.removeprefix("edged: ").removeprefix("warning: ") or f"it ended with code {code}"


def _all_of(stream: IO[str] | None) -> str:
    return stream.read() if stream else ""


def _json_in(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
