"""A machine that runs its tests, and what it has said of them so far."""

import json
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from trials.vm.boot import CONSOLE, JOURNAL, LOG, REPORTS, boot
from trials.vm.image import image_of
from trials.vm.machines import Machine

WITHIN_S = 3600.0
LOOK_S = 0.5
END_S = 120.0


@dataclass(frozen=True)
class Report:
    """What became of one test in the machine. `words`: what it printed; or why it failed or was skipped."""

    outcome: str
    seconds: float
    words: str


class Run:
    """One boot of a machine with some of its tests (`unplug.py::test_…`)."""

    def __init__(self, machine: Machine, names: list[str], folder: Path) -> None:
        """The image is made where there is none yet; what the machine writes is kept in `folder`."""
        arguments = " ".join(f"trials/vm/guest/checks/{name}" for name in names)
        self._folder = folder
        self._names = set(names)
        self._deadline = time.monotonic() + WITHIN_S
        self._process = boot(machine, image_of(machine), folder, arguments)

    def report(self, name: str) -> Report:
        """Of one test, once it is there. Fails where the machine has ended without it."""
        while not (report := self._reports().get(name)):
            if self._process.poll() is not None:
                # it may have come between the two looks
                return self._reports().get(name) or Report("failed", 0.0, self.last_words())
            if time.monotonic() > self._deadline:
                return Report("failed", 0.0, f"not there after {WITHIN_S:g} s\n{self.last_words()}")
            time.sleep(LOOK_S)
        return report

    def last_words(self) -> str:
        """The ends of what it has written."""
        return "\n".join(
            f"=== {self._folder / name}\n{(self._folder / name).read_text(errors='replace')[-4000:]}"
            for name in (CONSOLE, LOG, JOURNAL)
        )

    def _reports(self) -> dict[str, Report]:
        """By name. The last line may be on its way; of two about one test, the one that is worse counts."""
        reports: dict[str, Report] = {}
        for line in (self._folder / REPORTS).read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                told = json.loads(line)
                name = told.pop("name")
                if name not in reports or reports[name].outcome == "passed":
                    reports[name] = Report(**told)
        return reports

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let it switch itself off after its last test, and otherwise end it: we were interrupted."""
        if self._names <= self._reports().keys():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
        self._process.kill()
        self._process.wait()
        for disk in self._folder.glob("*.img"):
            disk.unlink()
