"""What is soaked: a daemon with two cameras, everybody who listens to it, and its lives one after another."""

import json
import os
import random
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
import zmq

from edged.connect import connect, curve_of
from edged.engine.device import list_devices
from edged.keys import new_pair
from edged.paths import runtime_directory
from tests.camera.rtsp import RtspServer, has_gstreamer
from tests.conftest import ROOT
from tests.disks import a_small_disk, an_ext4
from tests.e2e.daemon import START_S, Daemon, config_in, run_edged
from tests.e2e.test_driver_faults import Driver, can_preload
from tests.e2e.witness import Client, Keys, RawSubscriber, processes_of, salvaged
from tests.eventually import eventually

DOOR = {"source": "synthetic:digits", "size": [160, 120], "fps": 15, "seed": 1}
YARD = {**DOOR, "seed": 2}
RECOVERY = {"losses": 5, "retry_device_s": 10}  # a device is given up, and tried again, now and then
KEPT = 10_000_000  # more than any soak makes: nothing is trimmed, all can be compared
LOOK_S = 0.02


class Setting:
    """`daemon` is the life that runs; `raw`, `client` and a subscriber that never reads outlive it.

    `disk`: a small one for the journal alone, and `icy` one that can be frozen; None where they cannot be mounted.
    `kept`: what the journal held before it was damaged; what the client had not yet fetched then `may_be_lost`.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.kept: dict[int, bytes] = {}
        self.may_be_lost: set[int] = set()
        self.damaged_at: list[float] = []  # wall time
        self.disk: Path | None = None
        self.icy: Path | None = None
        self.trigger = folder / "fault"
        self.driver = Driver(folder) if can_preload() else None
        self._keys: Keys = {"key": folder / "allowed" / "alice.key", "server_key": folder / "hub.pub"}
        (folder / "allowed").mkdir()
        new_pair(folder, "hub")
        new_pair(folder / "allowed", "alice")
        self.chance = random.Random(seed)  # noqa: S311
        self.rtsp = RtspServer() if has_gstreamer() else None
        self.config: dict[str, Any] = config_in(
            folder,
            cameras={"door": DOOR, "yard": {"source": self.rtsp.url} if self.rtsp else YARD},
            model={"name": "digits"},
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
        return self

    def _inject(self) -> None:
        """Let the daemons started from now on meet faults: see `faults.py`."""
        environment = self._around.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("PYTHONPATH", str(ROOT / "tests" / "e2e" / "endless_kernel"), prepend=":")
        environment.setenv("EDGED_TEST_FAULT", str(self.trigger))
        for name, value in (self.driver.environment if self.driver else {}).items():
            environment.setenv(name, value)

    def _mount(self) -> None:
        if os.geteuid():
            (self.folder / "room").mkdir()
        else:
            self.disk = self._around.enter_context(a_small_disk(self.folder / "room", "512m"))
            self.icy = self._around.enter_context(an_ext4(self.folder))

    def went_with_the_journal(self, published_at: float) -> bool:
        """Whether the journal had been damaged then, and was set aside when the hub came upon it later."""
        found = [float(str(each["at"])) for each in self.raw.events if each["event"] == "journal_set_aside"]
        ends = ((start, min((at for at in found if at > start), default=start)) for start in self.damaged_at)
        return any(start <= published_at <= end for start, end in ends)

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
        self._life.close()
        self._around.close()
        self.raw.stop()
        self._stalled.close()
        if self.rtsp:
            self.rtsp.kill()

    def start(self) -> None:
        """Begin a life; the one before has ended without a Traceback in its log."""
        self._life.close()
        run = run_edged(self.folder, config=self.config, programs=self.folder / "cache")
        self.daemon = self._life.enter_context(run)

    def kill_hub(self) -> None:
        """It goes without a word, and its children with it."""
        self.daemon.process.kill()
        self.daemon.process.wait()
        eventually(lambda: not processes_of(self.folder), START_S)

    def stop(self) -> dict[str, Any]:
        """The summary of the last life, once the client has all that was published."""
        newest = self.raw.seen[-1].seq
        eventually(lambda: self.client.last >= newest, START_S)
        self.client.stop()
        return self.daemon.stop(signal.SIGTERM)

    def child(self, *words: str) -> psutil.Process:
        """The child whose command holds all the words, once it runs."""
        return eventually(lambda: [each for each in self.daemon.children() if _says(each, words)], START_S)[0]

    def seconds_until_all_go_on(self, since: float, within_s: float) -> float | None:
        """From the wall time `since` until a later frame of every camera has been predicted; None: not in time."""
        index, waiting = len(self.raw.seen), set(self.config["cameras"])
        index = max(0, index - 500)  # some may have come while the fault was made
        while time.time() - since < within_s:
            for seen in self.raw.seen[index:]:
                fields, index = json.loads(seen.json), index + 1
                if fields["captured_at"] > since:
                    waiting.discard(fields["camera"])
            if not waiting:
                return time.time() - since
            time.sleep(LOOK_S)
        return None

    @property
    def runtime_folder(self) -> Path:
        """Where the hub keeps its sockets while it runs."""
        return runtime_directory(self.journal)


def _says(process: psutil.Process, words: tuple[str, ...]) -> bool:
    try:
        return set(words) <= set(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
