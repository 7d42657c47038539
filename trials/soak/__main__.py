"""`python -m trials.soak --minutes 30 --seed 1`: seeded faults again and again; exit code 1 for any complaint."""

import argparse
import multiprocessing
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from trials.soak.faults import FAULTS, Fault
from trials.soak.levels import Levels, OneLaunches
from trials.soak.setting import Setting
from trials.soak.subject import Subject, detector, digits
from trials.soak.verdict import verdict

CALM_LOOKS = (2, 8)  # between two faults
HASTE_S = 120.0  # a soak that is shorter looks once
LOOK_EVERY_S = 0.5
LONG_LIFE = 3  # rounds of faults for each that kills the hub, which must live long enough to show that it grows


class Soak:
    """What happened: `recoveries` in seconds by the fault's name, and `complaints`."""

    def __init__(self, setting: Setting, faults: tuple[Fault, ...] = FAULTS) -> None:
        self._setting = setting
        self._faults = faults
        self._left: list[Fault] = []
        self._rounds = 0
        self.levels = Levels()
        self.one_launches = OneLaunches()
        self.recoveries: defaultdict[str, list[float]] = defaultdict(list)
        self.complaints: list[str] = []

    def run(self, seconds: float) -> None:
        """One fault after another, then the end."""
        self._goes_on(Fault("start", lambda _: time.time(), 90))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._goes_on(self._next())
            for _ in range(self._setting.chance.randint(*CALM_LOOKS) if seconds >= HASTE_S else 1):
                time.sleep(LOOK_EVERY_S)
                daemon = self._setting.daemon
                self.one_launches.look(daemon.process.pid, daemon.metrics())
                self.levels.look(daemon.process.pid)
        self.complaints += [*verdict(self._setting, self._setting.stop()), *self.levels.faults()]

    def _next(self) -> Fault:
        """Each once in any order, then again: a short soak has seen most."""
        if not self._left:
            self._left = [fault for fault in self._faults if not fault.of_hub or self._rounds % LONG_LIFE == 0]
            self._left = self._left or list(self._faults)
            self._setting.chance.shuffle(self._left)
            self._rounds += 1
        return self._left.pop()

    def _goes_on(self, fault: Fault) -> None:
        since = fault.make(self._setting)
        if since is None:
            fault.heal(self._setting)
            print(f"{time.strftime('%X')}  {fault.name}: not here and now", file=sys.stderr, flush=True)
            return
        seconds = self._setting.seconds_until_all_go_on(since, fault.bound_s)
        if isinstance(seconds, float):
            found = f"{seconds:.2f} s"
            self.recoveries[fault.name].append(seconds)
        else:
            found = f"{', '.join(sorted(seconds))}: no prediction within {fault.bound_s:g} s"
            self.complaints.append(f"{fault.name}: {found}\n{self._setting.daemon.log()[-2000:]}")
        print(f"{time.strftime('%X')}  {fault.name}: {found}", file=sys.stderr, flush=True)
        fault.heal(self._setting)
        while self._setting.complaints:
            found = self._setting.complaints.pop(0)
            self.complaints.append(f"{fault.name}: expected: {fault.expected}; found: {found}")

    def table(self) -> str:
        """A line a fault: how often, and how long until all went on, in the time that the machine gave."""
        lines = [f"{'fault':28} {'times':>5} {'median s':>9} {'max s':>7}"]
        for name, seconds in self.recoveries.items():
            lines.append(f"{name:28} {len(seconds):5} {median(seconds):9.2f} {max(seconds):7.2f}")
        grown = (
            ", ".join(f"{mb:+.1f} MB {files:+g} files" for mb, files in self.levels.growth()) or "too short to say"
        )
        predictions = len(self._setting.raw.seen), len(self._setting.client.seen)
        seen = "predictions seen: raw {}, client {}".format(*predictions)
        return "\n".join([*lines, f"hub: {grown}", str(self.one_launches), seen])


def hog() -> None:
    """Keep a processor busy, as another program of the machine would."""
    while True:
        pass


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """So many processes that take what processor time they get."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=hog, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _subject(arguments: argparse.Namespace, folder: Path) -> Subject:
    return detector(arguments.model, arguments.pictures, folder) if arguments.model else digits()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="REGEX", default="", help="the faults whose name matches")
    parser.add_argument("--model", type=Path, metavar="FILE", help="a detector of COCO's classes, with --pictures")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="photographs with people, and without")
    parser.add_argument("--hogs", type=int, default=0, help="processes beside it that take all processor time")
    arguments = parser.parse_args()
    faults = tuple(fault for fault in FAULTS if re.search(arguments.only, fault.name))
    if not faults:
        parser.error(f"no fault is named so; there are: {', '.join(fault.name for fault in FAULTS)}")
    if bool(arguments.model) != bool(arguments.pictures):
        parser.error("--model and --pictures belong together")
    with (
        TemporaryDirectory(prefix="edged-soak-") as folder,
        hogs(arguments.hogs),
        Setting(Path(folder), arguments.seed, _subject(arguments, Path(folder) / "photographs")) as setting,
    ):
        soak = Soak(setting, faults)
        try:
            soak.run(60 * arguments.minutes)
        finally:
            print(soak.table())
    for complaint in soak.complaints:
        print(f"FAULT: {complaint}")
    return 1 if soak.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
