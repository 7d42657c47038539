"""Who watches the stream of a daemon that is killed: a raw socket, our client, and what is on disk."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil
import zmq

from edged.client import Prediction, subscribe
from edged.hub.journal.schema import checksum
from edged.messages import prediction_from_json
from edged.transport.client_socket import curve_of, unconnected
from tests.eventually import TURN_MS

Keys = dict[str, Path | None]  # `key` and `server_key` of `edged.client.subscribe`

RECONNECT_MS = 10


@dataclass(frozen=True, slots=True)
class Seen:
    """A prediction as it left PUB."""

    boot: str
    seq: int
    json: bytes


class RawSubscriber(threading.Thread):
    """A plain SUB socket, which fills no gap: what it has seen has certainly left the hub."""

    def __init__(self, address: str, keys: Keys | None = None) -> None:
        super().__init__(name="raw subscriber", daemon=True)
        self._curve = curve_of(keys["key"], keys["server_key"]) if keys else None
        self.seen: list[Seen] = []
        self.events: list[dict[str, object]] = []
        self._address = address
        self._end = threading.Event()

    def run(self) -> None:
        with zmq.Context() as context, unconnected(context, zmq.SUB, self._address, 0, self._curve) as socket:
            socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MS)
            socket.setsockopt(zmq.RECONNECT_IVL_MAX, 0)  # not ever longer
            socket.connect(self._address)
            socket.subscribe("")
            while not self._end.is_set():
                if socket.poll(TURN_MS):
                    self._take(*socket.recv_multipart())

    def stop(self) -> None:
        self._end.set()
        self.join()

    def _take(self, topic: bytes, message: bytes) -> None:
        fields = json.loads(message)
        if topic.endswith(b"/prediction"):
            self.seen.append(Seen(fields["boot"], fields["seq"], message))
        elif topic.endswith(b"/event"):
            self.events.append(fields)


class Client(threading.Thread):
    """`edged.client.subscribe`, as another program uses it."""

    def __init__(self, address: str, replay: str | None = None, keys: Keys | None = None) -> None:
        super().__init__(name="client", daemon=True)
        self._keys: Keys = keys or {"key": None, "server_key": None}
        self.seen: list[Prediction] = []
        self._address = address
        self._replay = replay
        self._end = threading.Event()

    def run(self) -> None:
        for prediction in subscribe(
            self._address, replay=self._replay, key=self._keys["key"], server_key=self._keys["server_key"]
        ):
            self.seen.append(prediction)
            if self._end.is_set():
                break

    @property
    def last(self) -> int:
        return self.seen[-1].seq if self.seen else -1

    def stop(self) -> None:
        """It ends with its next prediction, or with this process."""
        self._end.set()


def journal_of(path: Path) -> dict[int, bytes]:
    """Number and JSON of what the journal at `path` holds. It reads a copy: no hub may run."""
    with TemporaryDirectory() as folder:
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, folder)
        database = sqlite3.connect(Path(folder) / path.name)
        try:
            tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'predictions'").fetchall()
            kept = "SELECT seq, json FROM predictions WHERE json != x''"  # those without were withdrawn
            rows = database.execute(kept).fetchall() if tables else []
        finally:
            database.close()
    return {seq: bytes(blob) for seq, blob in rows}


def untimed(prediction: Prediction) -> Prediction:
    """Without what is known at the sending alone: the journal has the prediction before."""
    seconds = msgspec.structs.replace(prediction.seconds, publish=0.0, total=0.0)
    return msgspec.structs.replace(prediction, seconds=seconds, published_at=0.0)


def is_kept(seen: Seen, journal: Mapping[int, bytes]) -> bool:
    """Whether the journal has what was seen, apart from the times of the sending."""
    kept = journal.get(seen.seq)
    return kept is not None and untimed(prediction_from_json(kept)) == untimed(prediction_from_json(seen.json))


def salvaged(path: Path, numbers: Iterable[int]) -> dict[int, bytes]:
    """What is whole under these numbers of a journal that may be damaged, while no hub runs."""
    found = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        for number in numbers:
            with suppress(sqlite3.DatabaseError):
                for blob, crc in database.execute("SELECT json, crc FROM predictions WHERE seq = ?", (number,)):
                    if blob and crc == checksum(number, bytes(blob)):
                        found[number] = bytes(blob)
    return found


def processes_of(folder: Path) -> list[psutil.Process]:
    """The processes that keep their state in `folder` and have not ended, whoever is their parent."""
    return [process for process in psutil.process_iter() if _lives_in(process, folder)]


def _lives_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get("XDG_STATE_HOME") == str(folder)
    except psutil.Error:  # it has ended, or is not ours
        return False
