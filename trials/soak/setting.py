"""The setting of a soak: a daemon with three cameras, who listens to it, and its lives one after another."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import psutil
import pytest
import zmq

from edged.engine.device import list_devices
from edged.system.paths import runtime_directory
from edged.transport.client_socket import connect, curve_of
from edged.transport.keys import new_pair
from tests.camera.rtsp import RtspServer, has_gstreamer
from tests.conftest import ROOT
from tests.disks import a_small_disk, an_ext4
from tests.e2e.daemon import START_S, Daemon, config_in, run_edged
from tests.e2e.injected_faults import Driver, WallClock, can_preload
from tests.e2e.witness import Client, Keys, RawSubscriber, processes_of, salvaged
from tests.eventually import eventually
from tests.given_time import GivenTime
from trials.soak.bridged import Bridged, has_bridge
from trials.soak.onlookers import View, has_view
from trials.soak.shed import Shed
from trials.soak.subject import Subject

RECOVERY = {"losses": 5, "retry_device_s": 10}  # a device is given up, and tried again, now and then
KEPT = 10_000_000  # more than any soak makes: nothing is trimmed, all can be compared
LOOK_S = 0.02
PASSWORD = "soak-1234"  # noqa: S105
CROWD_S = 60.0  # for all of a crowd to get what they want
LIFE_S = 90.0  # for a life to show all of its cameras
SOME = 10  # predictions of each camera that show that a life has begun


class Setting:
    """`daemon` is the life that runs; `raw`, `client` and a subscriber that never reads outlive it.

    `disk`: a small one for the journal alone, and `icy` one that can be frozen; None where they cannot be mounted.
    `kept`: what the journal held before it was damaged or removed; what the client had not yet fetched then
    `may_be_lost`. `view`: an `edged view`, `bridged`: a bridge and its broker, `clock`: a wall clock for a life;
    None where they cannot be. Faults add what was not as expected to `complaints`.
    """

    def __init__(self, folder: Path, seed: int, subject: Subject) -> None:
        self.folder, self.subject = folder, subject
        self.kept: dict[int, bytes] = {}
        self.may_be_lost: set[int] = set()
        self.damaged_at: list[float] = []  # wall time
        self.disk: Path | None = None
        self.icy: Path | None = None
        self.complaints: list[str] = []
        self.ended: set[str] = set()  # lives with a wrong clock, whose times say nothing
        self.trigger = folder / "fault"
        self.skew = folder / "skew"
        self.password = folder / "yard.password"
        self.password.write_text(PASSWORD)
        self.password.chmod(0o600)
        self.clock = WallClock(folder) if shutil.which("gcc") else None
        self.view: View | None = None
        self.bridged: Bridged | None = None
        self._crowd: subprocess.Popen[bytes] | None = None
        self._crowd_says = folder / "crowd"
        self._summary_is_lost = False
        self.driver = Driver(folder) if can_preload() else None
        self._keys: Keys = {"key": folder / "allowed" / "alice.key", "server_key": folder / "hub.pub"}
        (folder / "allowed").mkdir()
        new_pair(folder, "hub")
        for name in ("alice", "crowd"):
            new_pair(folder / "allowed", name)
        self.chance = random.Random(seed)  # noqa: S311
        self.rtsp = RtspServer(credentials=f"viewer:{PASSWORD}") if has_gstreamer() else None
        self.shed = Shed(folder)
        self.config: dict[str, Any] = config_in(
            folder,
            cameras={"door": subject.door, "yard": self._yard(), "shed": self.shed.config},
            model=subject.model,
            states=subject.states,
            workers=[*([{"device": "auto"}] if list_devices() else []), {"device": "numpy"}],
            recovery=RECOVERY,
            security={"key": "hub.key", "allow": ["allowed"]},
            journal={"path": str(folder / "room" / "journal.sqlite"), "max_predictions": KEPT},
        )
        self.raw = RawSubscriber(self.config["publish"]["address"], self._keys)
        self.client = Client(self.config["publish"]["address"], keys=self._keys)
        self._life = ExitStack()
        self._around = ExitStack()
        self.daemon: Daemon

    def __enter__(self) -> "Setting":
        self._inject()
        self._mount()
        if self.rtsp:
            self.rtsp.start()
        curve = curve_of(self._keys["key"], self._keys["server_key"])
        self._stalled = connect(zmq.Context.instance(), zmq.SUB, self.config["publish"]["address"], 1, curve)
        self._stalled.subscribe("")
        self.raw.start()
        self.client.start()
        self.start()
        if has_view():
            self.view = self._around.enter_context(View(self.config["publish"]["address"], self._keys))
        if has_bridge():
            self.bridged = self._around.enter_context(Bridged(self.folder, self.config, self._keys))
        return self

    def _yard(self) -> dict[str, Any]:
        if not self.rtsp:
            return self.subject.yard
        return {"source": self.rtsp.url, "user": "viewer", "password_file": str(self.password)}

    def _inject(self) -> None:
        """Let the daemons started from now on meet faults: see `faults.py`."""
        environment = self._around.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("PYTHONPATH", str(ROOT / "tests" / "e2e" / "endless_kernel"), prepend=":")
        environment.setenv("EDGED_TEST_FAULT", str(self.trigger))
        environment.setenv("EDGED_TEST_SKEW", str(self.skew))
        for name, value in (self.driver.environment if self.driver else {}).items():
            environment.setenv(name, value)

    def _mount(self) -> None:
        if os.geteuid():
            (self.folder / "room").mkdir()
        else:
            self.disk = self._around.enter_context(a_small_disk(self.folder / "room", "512m"))
            self.icy = self._around.enter_context(an_ext4(self.folder))

    def went_with_the_journal(self, seq: int, published_at: float) -> bool:
        """Whether an event says so, or the journal was damaged then and was set aside when the hub noticed it."""
        if any(first <= seq <= last for first, last in self._removed()):
            return True
        found = [float(str(each["at"])) for each in self.raw.events if each["event"] == "journal_quarantined"]
        ends = ((start, min((at for at in found if at > start), default=start)) for start in self.damaged_at)
        return any(start <= published_at <= end for start, end in ends)

    def _removed(self) -> list[tuple[int, int]]:
        """Numbers that events `journal_removed` name."""
        messages = self.events("journal_removed", 0)
        return [(int(first), int(last)) for m in messages for first, last in re.findall(r"(\d+) to (\d+)", m)]

    @property
    def journal(self) -> Path:
        return Path(self.config["journal"]["path"])

    def in_journal(self) -> dict[int, bytes]:
        """What is on disk while no hub runs, in files too that a hub has set aside because a page is damaged."""
        files = [*self.journal.parent.glob(f"{self.journal.name}.damaged-*"), self.journal]
        numbers = [seen.seq for seen in self.raw.seen]
        held: dict[int, bytes] = {}
        for file in files:
            if not file.name.endswith(("-wal", "-shm")):
                held |= salvaged(file, numbers)
        return held

    def __exit__(self, *_: object) -> None:
        self.crowd_leaves()
        self._life.close()
        self._around.close()
        self.raw.stop()
        self._stalled.close()
        if self.rtsp:
            self.rtsp.kill()

    def start(self, output: IO[str] | None = None) -> None:
        """Begin a life; the one before has ended without a Traceback in its log. `output`: its standard output."""
        self._life.close()
        self._summary_is_lost = output is not None
        run = run_edged(self.folder, config=self.config, programs=self.folder / "cache", output=output)
        self.daemon = self._life.enter_context(run)

    @contextmanager
    def wrong_clock(self, days: int) -> Iterator[None]:
        """For lives that start meanwhile."""
        assert self.clock
        self.clock.jump(days * 86_400)
        with pytest.MonkeyPatch.context() as environment:
            for name, value in self.clock.environment.items():
                environment.setenv(name, value, prepend=":" if name == "LD_PRELOAD" else None)
            yield

    def each_camera_is_seen(self) -> None:
        """Wait until this life has published some predictions of every camera."""
        boots = {seen.boot for seen in self.raw.seen}
        new = eventually(lambda: {seen.boot for seen in self.raw.seen[-SOME:]} - boots, LIFE_S)
        found = Counter[str]()
        index = len(self.raw.seen)

        def are_all_seen() -> bool:
            nonlocal index
            for seen in self.raw.seen[index:]:
                found.update([json.loads(seen.json)["camera"]] if seen.boot in new else [])
                index += 1
            return all(found[name] >= SOME for name in self.config["cameras"])

        eventually(are_all_seen, LIFE_S)

    def crowd_comes(self, kind: str, count: int, newest: int = 1000) -> None:
        """Many subscribers of a kind, of a process of their own; they may ask for the `newest` predictions."""
        last = self.raw.seen[-1].seq
        hub = {
            "publish": self.config["publish"]["address"],
            "replay": self.config["publish"]["replay"],
            "key": str(self.folder / "allowed" / "crowd.key"),
            "server_key": str(self._keys["server_key"]),
            "first_seq": max(0, last - newest),
            "last_seq": last,
        }
        command = [sys.executable, "-m", "trials.soak.crowd", kind, str(count), json.dumps(hub)]
        with self._crowd_says.open("w") as output:
            self._crowd = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=output)
        eventually(lambda: "ready" in self._crowd_says.read_text(), CROWD_S)

    def crowd_is_done(self) -> bool:
        """Whether all of it have what they want, in time."""
        with suppress(AssertionError):
            return eventually(lambda: "done" in self._crowd_says.read_text(), CROWD_S)
        return False

    def crowd_leaves(self) -> None:
        """If there is one."""
        if self._crowd:
            self._crowd.kill()
            self._crowd.communicate()
        self._crowd = None

    def replay_answers(self) -> bool:
        """Whether somebody who asks the journal gets what he asked for."""
        self.crowd_comes("catch_up", 1, newest=10)
        is_done = self.crowd_is_done()
        self.crowd_leaves()
        return is_done

    def keep_what_is_there(self) -> int:
        """Remember what the journal holds while the hub runs; its newest number."""
        # number by number: a page may be damaged that the hub has not read yet
        self.kept |= salvaged(self.journal, [seen.seq for seen in self.raw.seen])
        self.may_be_lost |= {number for number in self.kept if number > self.client.last}
        return max(self.kept)

    def events(self, name: str, since: float) -> list[str]:
        """Messages of the events of this name from wall time `since` on."""
        return [
            str(each["message"])
            for each in self.raw.events
            if each["event"] == name and float(str(each["at"])) >= since
        ]

    def kill_hub(self) -> None:
        """It goes without a word, and its children with it."""
        self.daemon.process.kill()
        self.daemon.process.wait()
        eventually(lambda: not processes_of(self.folder), START_S)

    def stop(self) -> dict[str, Any]:
        """The summary of the last life, once the client has all that was published."""
        if self._summary_is_lost:
            self.kill_hub()
            self.start()
            self.each_camera_is_seen()
        newest = self.raw.seen[-1].seq
        eventually(lambda: self.client.last >= newest, START_S)
        self.client.stop()
        return self.daemon.stop(signal.SIGTERM)

    def child(self, *words: str) -> psutil.Process:
        """The child whose command holds all the words, once it runs."""
        return eventually(lambda: [each for each in self.daemon.children() if _says(each, words)], START_S)[0]

    def seconds_until_all_go_on(self, since: float, within_s: float) -> float | set[str]:
        """From the wall time `since` until a later frame of every camera has been predicted; or who has none.

        `within_s` of the time that the machine gives us: where other programs take much of it, less their share.
        """
        index, waiting = len(self.raw.seen), set(self.config["cameras"])
        index = max(0, index - 500)  # some may have come while the fault was made
        given = GivenTime(time.time() - since)
        while True:
            for seen in self.raw.seen[index:]:
                fields, index = json.loads(seen.json), index + 1
                if fields["captured_at"] > since and seen.boot not in self.ended:
                    waiting.discard(fields["camera"])
            if not waiting:
                return given.seconds()
            if time.time() - since > within_s and given.seconds() > within_s:
                return waiting
            time.sleep(LOOK_S)

    @property
    def runtime_folder(self) -> Path:
        """Where the hub keeps its sockets while it runs."""
        return runtime_directory(self.journal)


def _says(process: psutil.Process, words: tuple[str, ...]) -> bool:
    try:
        return set(words) <= set(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
