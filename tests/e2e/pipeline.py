"""One pipeline on several hosts: the same file everywhere, real processes, and what a subscriber sees of them."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edged.transport.keys import new_pair
from tests.cli.models import SIZE, small_network
from tests.e2e.daemon import MAX_AGE_S, STAMP_S, SYNTHETIC, compiled, conserves
from tests.e2e.hosts import Host, hosts
from tests.e2e.lateness import Lateness
from tests.e2e.witness import RawSubscriber
from tests.eventually import LIMIT_S, eventually
from tests.given_time import GivenTime

PORT = 5572
HUB = f"tcp://192.168.1.10:{PORT}"
EDGED = (sys.executable, "-m", "edged")
THREE = {"hub": ("run", "--json"), "gate": ("camera", "yard"), "big": ("worker", "0")}


def config_in(folder: Path, **sections: Any) -> dict[str, Any]:
    """A hub, a camera on the host gate and a worker on the host big, changed by `sections`."""
    return {
        "node": "test",
        "cameras": {"yard": {**SYNTHETIC, "host": "gate"}},
        "model": {"path": "small.onnx"},
        "workers": [{"device": "numpy", "host": "big"}],
        "freshness": {"max_age_s": MAX_AGE_S},
        "link": {"address": HUB},
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "security": {
            "key": "keys/own.key",
            "hub": "keys/hub.pub",
            "allow": [],
            "cameras": ["keys/gate.pub"],
            "workers": ["keys/big.pub"],
        },
        **sections,
    }


@dataclass
class Pipeline:
    """Each host has a folder of its own with the file, the model and its keys."""

    folder: Path
    hosts: dict[str, Host]
    seen: RawSubscriber
    processes: dict[str, "subprocess.Popen[str]"] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)  # the hub's, after the stop
    lateness: Lateness = field(default_factory=Lateness)

    def write(self, config: dict[str, Any] | str) -> None:
        """Give every host this config, or this file."""
        for name in self.hosts:
            text = config if isinstance(config, str) else json.dumps(config)
            (self.folder / name / "edged.yaml").write_text(text)

    def start(self, name: str, *verb: str, on: str = "", by: Sequence[str] = EDGED, **environment: str) -> None:
        """A process of this name on the host of that name, or `on` another. `by`: the program, before the verb."""
        host = self.hosts[on or name]
        place = self.folder / host.name
        config = (place / "edged.yaml",) if verb[0] == "run" else ("--config", place / "edged.yaml")
        state = {"XDG_STATE_HOME": str(place), "XDG_CACHE_HOME": str(compiled())}
        command = (*by, *verb, *config)
        self.processes[name] = host.start(command, self.folder / f"{name}.log", **state, **environment)

    def reload(self, config: dict[str, Any]) -> None:
        """As its user does: the file on the hub's host, then `edged reload`."""
        self.write(config)
        file = self.folder / "hub/edged.yaml"
        self.hosts["hub"].run(*EDGED, "reload", file, XDG_STATE_HOME=str(self.folder / "hub"))

    def kill(self, name: str) -> None:
        """As a power cut does."""
        process = self.processes.pop(name)
        process.kill()
        process.wait(LIMIT_S)

    def ends(self, name: str) -> int:
        """The exit code of a process that ends by itself."""
        return self.processes.pop(name).wait(LIMIT_S)

    def goes_on(self, count: int = 1) -> float:
        """Return given seconds until the next prediction, or until so many have come."""
        before = len(self.seen.seen)
        return self.seconds_until(lambda: len(self.seen.seen) >= before + count)

    def seconds_until(self, condition: Callable[[], object]) -> float:
        """Return given seconds from now until the condition holds."""
        given = GivenTime()
        try:
            eventually(condition)
        except AssertionError as error:
            raise AssertionError(f"{error}\nthe hub's log ends:\n{self.log('hub')[-3000:]}") from None
        return given.seconds()

    def says(self, name: str, words: str, after: int = 0) -> bool:
        """Whether the log of a process has these words beyond so many characters, once it has."""
        return eventually(lambda: words in self.log(name)[after:])

    def log(self, name: str) -> str:
        """All that processes of this name have said."""
        return (self.folder / f"{name}.log").read_text()

    def predictions(self, first: int = 0) -> list[dict[str, Any]]:
        """As they were published, from that one on; −1 is the last."""
        return [json.loads(seen.json) for seen in self.seen.seen[first:]]

    def metrics(self) -> str:
        """The hub's, all of them."""
        get = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9464/metrics').read().decode())"
        return self.hosts["hub"].run(sys.executable, "-c", get)

    def stop(self) -> None:
        """The hub; the others go on."""
        hub = self.processes.pop("hub")
        hub.send_signal(signal.SIGTERM)
        assert hub.wait(LIMIT_S) == 0, self.log("hub")
        self.summary = json.loads((self.folder / "hub.out").read_text().splitlines()[-1])

    def is_whole(self) -> bool:
        """Stops it. Nothing was published twice, nothing too old, and no frame is unaccounted for."""
        seen = self.predictions()
        numbers = {each["seq"] for each in seen}
        frames = {(each["camera"], each["frame"], each["captured_at"]) for each in seen}
        assert len(numbers) == len(frames) == len(seen)
        oldest_s = max(each["seconds"]["total"] + each["clock_error"] for each in seen)
        assert oldest_s <= MAX_AGE_S + STAMP_S + self.lateness.longest_s
        self.stop()
        return conserves(self.summary)


@contextmanager
def pipeline(
    folder: Path,
    *names: str,
    config: dict[str, Any] | str | None = None,
    side: int = SIZE,
) -> Iterator[Pipeline]:
    """Hosts of these names, the first is the hub's; nothing is left of what is started there.

    `side`: of the pictures that the model takes, in pixels.
    """
    for name in names:
        (folder / name / "keys").mkdir(parents=True)
        small_network(folder / name / "small.onnx", size=side)
        new_pair(folder / name / "keys", name)[0].rename(folder / name / "keys/own.key")
    for name in names:
        for other in names:
            (folder / other / f"keys/{name}.pub").write_text((folder / name / f"keys/{name}.pub").read_text())
    with hosts(*names) as machines:
        by_name, seen = {host.name: host for host in machines}, RawSubscriber(f"ipc://{folder}/pub")
        running = Pipeline(folder, by_name, seen)
        running.write(config or config_in(folder))
        running.seen.start()
        running.lateness.start()
        try:
            yield running
        finally:
            running.seen.stop()
            running.lateness.stop()
            for name in list(running.processes):
                running.kill(name)
            assert "Traceback" not in "".join(path.read_text() for path in folder.glob("*.log"))


@contextmanager
def three_hosts(folder: Path, side: int = SIZE, **sections: Any) -> Iterator[Pipeline]:
    """The hub, the camera's host and the worker's; predictions come."""
    with pipeline(folder, *THREE, config=config_in(folder, **sections), side=side) as running:
        for name, verb in THREE.items():
            running.start(name, *verb)
        running.goes_on()
        yield running
