"""A daemon on a board of which everything is wrong that can be wrong at the same time, and then nothing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import psutil
import pytest
import zmq

from tests.cli.command import edged
from tests.disks import fill
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.daemon_use import hang_up, reload
from tests.e2e.fake_board import CLOCK_HZ, FakeBoard
from tests.e2e.street import StreetCamera
from tests.eventually import in_background
from tests.hub.receivers import NotificationServer

OFTEN_S = 0.05
DIGITS = {"source": "synthetic:digits", "size": [160, 120]}
SLOW = {**DIGITS, "fps": 1.5}  # what waits for the next of its frames grows too old
QUICK = {**DIGITS, "fps": 20}
ASIDE = {**QUICK, "roi": [0.1, 0.2, 0.7, 0.8]}  # somebody pushed it: most digits are out of its sight
EVERYWHERE = "0.0.0.0"  # noqa: S104
SIDE = 120  # of what the bundled model takes
PICTURE = b'{"shape": [1, %d, %d, 3], "dtype": "uint8"}' % (SIDE, SIDE)
WORKER = {"device": "cpu", "threads": 1}


class Plagued:
    """Makes the faults, until `heal`."""

    def __init__(
        self,
        folder: Path,
        disk: Path,
        board: FakeBoard,
        receiver: NotificationServer,
        gate: StreetCamera,
        shop: StreetCamera,
    ) -> None:
        self._folder, self._disk, self._board, self._gate, self._shop = folder, disk, board, gate, shop
        self._receiver = receiver
        self.killed: frozenset[str] = frozenset()  # indices of the workers that are killed at sight
        self._is_ill = False
        self._service_fails = folder / "service_fails"
        self._frigate = f"ipc://{folder}/frigate"

    def config(self, *, insecure: bool) -> dict[str, Any]:
        """Two workers, the second in reserve; four cameras and Frigate; a small disk for the journal."""
        street = {"frozen_s": 1, "max_fps": 4}
        cameras = {
            "slow": SLOW,
            "moved": QUICK,
            "gate": {"source": self._gate.url, **street},
            "shop": {"source": self._shop.url, **street},
            "frigate": {"source": f"frigate:{self._frigate}"},
        }
        config = config_in(
            self._folder,
            node="juno-01",
            cameras=cameras,
            model={"name": "digits"},
            workers=[WORKER, WORKER],
            journal={"path": str(self._disk / "journal.sqlite"), "max_megabytes": 8},
            recovery={"losses": 1, "retry_device_s": 1},
            energy={"idle_s": 0.5, "sysfs": str(self._board.root)},
            notify={"url": f"http://127.0.0.1:{self._receiver.port}/", "when": ["camera", "worker"]},
        )
        if insecure:
            addresses = {key: config["publish"][key].replace("127.0.0.1", EVERYWHERE) for key in config["publish"]}
            config["publish"] = {**addresses, "insecure": True}
        return config

    @contextmanager
    def running(self, config: dict[str, Any]) -> Iterator[Daemon]:
        """The daemon, under its faults."""
        with (
            self._injected(),
            run_edged(self._folder, config=config) as daemon,
            in_background(lambda stopped: self._plague(daemon, stopped)),
        ):
            yield daemon

    @contextmanager
    def _injected(self) -> Iterator[None]:
        """Let a service of the hub fail while a file is there."""
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("PYTHONPATH", str(Path(__file__).parent / "failing_service"), prepend=":")
            environment.setenv("EDGED_TEST_SERVICE", str(self._service_fails))
            yield

    def fall_ill(self, daemon: Daemon) -> None:
        """All at once, but for the workers."""
        self._gate.is_away = self._shop.is_frozen = self._is_ill = True
        self._board.heat(95.0, CLOCK_HZ // 2)
        self._board.watts = 40.0
        self._receiver.status = HTTPStatus.NOT_FOUND
        fill(self._disk)
        self._service_fails.touch()
        code, words = reload(daemon, cameras={**daemon.config["cameras"], "moved": ASIDE})
        assert code == 0, words
        hang_up(daemon, freshness={"max_age_s": -1})

    def heal(self, daemon: Daemon) -> None:
        """All of it; new settings make the hub try its workers again at once."""
        self._gate.is_away = self._shop.is_frozen = self._is_ill = False
        self.killed = frozenset()
        self._board.heat(45.0, CLOCK_HZ)
        self._board.watts = 1.0
        self._receiver.status = HTTPStatus.OK
        (self._disk / "ballast").unlink()
        self._service_fails.unlink()
        code, words = reload(daemon, workers=[{**WORKER, "credit": 1}] * 2)
        assert code == 0, words

    def _plague(self, daemon: Daemon, stopped: threading.Event) -> None:
        with zmq.Context() as context, context.socket(zmq.DEALER) as peer, context.socket(zmq.DEALER) as frigate:
            for socket, address in ((peer, daemon.config["publish"]["replay"]), (frigate, self._frigate)):
                socket.setsockopt(zmq.LINGER, 0)
                socket.connect(address)
            while not stopped.wait(OFTEN_S):
                if self._is_ill:
                    peer.send(b"{")  # is no request: it is cut off, and connects again
                    frigate.send_multipart([PICTURE, bytes(SIDE * SIDE * 3)], zmq.NOBLOCK)
                    discard_answers(frigate)
                for worker in workers_of(daemon):
                    with suppress(psutil.NoSuchProcess):
                        if self.killed & set(worker.cmdline()):
                            worker.kill()


def discard_answers(frigate: zmq.Socket[bytes]) -> None:
    with suppress(zmq.Again):
        while True:
            frigate.recv_multipart(zmq.NOBLOCK)


def workers_of(daemon: Daemon) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [each for each in daemon.children() if "worker" in _command(each)]
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def time_the_layers(daemon: Daemon) -> None:
    """Of so many frames that Prometheus scrapes their times more than once."""
    done = edged(
        "profile",
        "--attach",
        daemon.folder / "edged.yaml",
        "--count",
        50,
        env={"XDG_STATE_HOME": str(daemon.folder)},
    )
    assert done.returncode == 0, done.stderr
