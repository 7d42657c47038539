"""Run the daemon with a profiling hook in each of its processes, and read what they have recorded."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from edged.client import subscribe
from tests.eventually import free_port

HOOK = Path(__file__).parent / "hook"
FPS = 3.3  # so slow that hardly any turn handles two frames; not in step with what is done each second
WARM = 5  # extra predictions: the first turns differ from all others
START_S = 120.0
STOP_S = 60.0
MOST_TIMES = 10  # of the frames wanted: if those have not shown what is looked for, no more of them will


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """A function of edged, with what is defined in it. `file`: below the folder `edged`."""

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.file} {self.name}"


Call = tuple[Function, Function]  # the caller and what it calls


@dataclass(frozen=True, slots=True)
class Turn:
    """What a thread did from one wait to the next. `messages`: the types of the pipeline's messages in it."""

    process: str
    thread: str
    messages: frozenset[str]
    calls: tuple[Call, ...]


def record(
    root: Path, config: Path, frames: int, folder: Path, is_enough: Callable[[list[Turn]], bool]
) -> list[Turn]:
    """Record the turns of a daemon that runs `config` at the checkout `root`, at least for `frames` predictions.

    On a busy machine many turns do more than one thing, so it goes on until the turns are enough, or until ten
    times as many frames were predicted. Raises RuntimeError where the daemon fails.
    """
    settings = yaml.safe_load(config.read_text())
    for camera in settings["cameras"].values():
        camera["fps"] = FPS
    address = f"tcp://127.0.0.1:{free_port()}"
    settings["workers"] = [{"device": "numpy"}]
    settings["freshness"] = {"max_age_s": 30, "deadline_s": 30}  # the hook makes everything slow
    settings["publish"] = {"address": address, "replay": f"tcp://127.0.0.1:{free_port()}"}
    settings["metrics"] = {"address": f"127.0.0.1:{free_port()}"}
    (folder / "edged.yaml").write_text(json.dumps(settings))  # JSON is YAML
    recorded = folder / "recorded"
    recorded.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(HOOK),
        "FRAME_PATH": str(recorded),
        "XDG_STATE_HOME": str(folder),
    }
    command = [sys.executable, "-m", "edged", "run", str(folder / "edged.yaml")]
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=log)
    try:
        stream = subscribe(address, timeout_s=START_S)
        for number in range(WARM + MOST_TIMES * frames):
            next(stream)
            if number >= WARM + frames and is_enough(_turns_in(recorded)):
                break
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(STOP_S)
    finally:
        daemon.kill()
        daemon.wait()
    if daemon.returncode:
        raise RuntimeError(f"the daemon failed:\n{(folder / 'log').read_text()}")
    return _turns_in(recorded)


def _turns_in(folder: Path) -> list[Turn]:
    return [turn for path in sorted(folder.iterdir()) for turn in turns_of(path)]


def turns_of(path: Path) -> Iterator[Turn]:
    """Read the turns that a process has recorded in a file."""
    process = path.stem.partition("-")[0]
    functions: dict[tuple[int, int], Function] = {}
    for line in path.read_text().splitlines():
        try:
            said = json.loads(line)
        except json.JSONDecodeError:  # the process was killed while it wrote
            continue
        if "function" in said:
            functions[said["thread"], said["number"]] = Function(*said["function"])
            continue
        calls = tuple(_call(functions, said["thread"], call) for call in said["calls"])
        yield Turn(process, said["name"], frozenset(said["messages"]), calls)


def _call(functions: Mapping[tuple[int, int], Function], thread: int, call: tuple[int, int]) -> Call:
    caller, callee = call
    return functions[thread, caller], functions[thread, callee]
