"""Try a worker: open the model on its device as the daemon would, compare it with the reference, and run it.

What is compiled meanwhile stays in the cache of the user, where the daemon of the same user finds it.

`python -m edged.doctor.trial` is the process that does so, since a driver may end the one that compiles for it.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from edged.config import Config
from edged.errors import DeviceError, EdgedError
from edged.model.model_part import part_of
from edged.model.package import load_model
from edged.runtime.select import is_numpy
from edged.runtime.threads import limit_threads
from edged.system import log
from edged.system.paths import program_cache
from edged.system.process_end import describe_exit, die_with
from edged.system.terminal import are_notes_printed, compiling_shown, print_notes
from edged.worker.driver_choice import DriverChoice
from edged.worker.warm_up import make_ready

TRIAL = "edged.doctor.trial"
LIMIT_S = 900.0  # of a worker; most of it is compiling, on a board
INSTEAD = "name another device in `workers:`, or update its driver"


@dataclass(frozen=True)
class TriedWorker:
    """A worker whose device runs the model. The fields are those of `Proven`."""

    excluded_variants: tuple[str, ...]
    is_compared: bool


def try_worker(config: Config, index: int, *, compose: bool = False) -> TriedWorker:
    """Try `config.workers[index]`, one on OpenCL in another process.

    compose: also compile its one launch, which a worker does while it serves. Raises DeviceError, also if that
    process ends or takes longer than `LIMIT_S`, ModelError, MemoryError.
    """
    if is_numpy(config.workers[index]):
        return _tried(config, index)
    is_verbose = logging.getLogger("edged").isEnabledFor(logging.DEBUG)
    request = {
        "parent": os.getpid(),
        "config": config.model_dump_json(),
        "index": index,
        "compose": compose,
        "level": "debug" if is_verbose else "error",  # the result has what a worker warns of
        "notes": are_notes_printed(),
    }
    answer = _answer(json.dumps(request), f"device {config.workers[index].device}")
    if problem := answer.get("problem"):
        raise DeviceError(problem)
    return TriedWorker(tuple(answer["excluded_variants"]), answer["is_compared"])


def _answer(request: str, device: str) -> Mapping[str, Any]:
    """Return the answer of the process, whose standard error meanwhile shows that kernels are compiled."""
    command = (sys.executable, "-m", TRIAL)
    try:
        done = subprocess.run(
            command, input=request, stdout=subprocess.PIPE, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"{device} is not ready within {LIMIT_S:g} s: {INSTEAD}") from None
    if done.returncode:
        crash = " (a driver crashes)" if done.returncode < 0 else ""
        raise DeviceError(
            f"{device}: the process that tries it {describe_exit(done.returncode)}{crash}: {INSTEAD}"
        )
    answer: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])  # drivers may print, too
    return answer


def _tried(config: Config, index: int, *, compose: bool = False) -> TriedWorker:
    worker, model = config.workers[index], load_model(config.model, lazily=True)
    DriverChoice(config, index, model).take()
    ready = make_ready(part_of(model, *config.ends_of(index)), worker, program_cache())
    if compose:
        ready.runtime.compose()
    ready.runtime.close()
    return TriedWorker(ready.excluded_variants, ready.is_compared)


def main() -> None:
    """Try the worker of the request on standard input; write the result, or the problem, on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command that waits reports it
    request = json.load(sys.stdin)
    die_with(request["parent"])
    log.configure(request["level"])
    print_notes(enabled=request["notes"])
    config, index = Config.model_validate_json(request["config"]), request["index"]
    limit_threads(config.workers[index].threads)
    try:
        with compiling_shown():
            answer = asdict(_tried(config, index, compose=request["compose"]))
    except (EdgedError, MemoryError) as error:
        answer = {"problem": str(error) or "out of memory"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
