"""`edged compile`: compile the kernels of a config's workers into the cache, ahead of a start or an upgrade."""

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from edged.cli.options import add_config, add_example, add_host, add_json, config_or_demo
from edged.config import Config
from edged.config.load import load_config
from edged.doctor.check_hosts import this_host
from edged.errors import ConfigError, DeviceError
from edged.system.paths import cache_directory, existing_part, program_cache
from edged.system.plain_text import counted
from edged.system.terminal import show


@dataclass(frozen=True)
class Compiled:
    """What was done for a worker. `programs`: those that the cache did not have; `error`: why it is not ready."""

    worker: int
    device: str
    programs: int = 0
    seconds: float = 0.0
    error: str = ""

    def __str__(self) -> str:
        """Return a line for people."""
        what = f"worker {self.worker}  {self.device}"
        if self.error:
            return f"error  {what}: {self.error}"
        done = f"{counted(self.programs, 'program')} in {self.seconds:.1f} s" if self.programs else "nothing to do"
        return f"ok     {what}: {done}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config and the host."""
    add_config(parser)
    add_host(parser, "this host's own name if the config has it, else the hub's host")
    add_json(parser)
    add_example(
        parser,
        "edged compile edged.yaml",
        "edged compile edged.yaml --set model.path=next.onnx",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each worker on OpenCL; exit code 3 if one of them would not start."""
    path = config_or_demo(arguments.config)
    config = load_config(path, arguments.settings)
    cache = usable_cache()
    done = []
    for each in _compiled(config, this_host(config, arguments.host), program_cache().absolute()):
        done.append(each)
        if not arguments.json:
            show(str(each), 7)
    _print_end(path, cache, done, as_json=arguments.json)
    return DeviceError.exit_code if any(each.error for each in done) else 0


def usable_cache() -> Path:
    """Return the folder of caches. Raises ConfigError where the daemon would not find what is kept in it.

    Files of root in the cache of a service cannot be read by the service.
    """
    cache = cache_directory().absolute()
    existing = existing_part(cache)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(f"{cache}: user {os.geteuid()} may not write there, so nothing could be kept")
    owner = existing.stat().st_uid
    if owner not in {0, os.geteuid()}:
        service = "for the service: `systemctl start edged-compile`"
        raise ConfigError(f"{cache} is a cache of user {owner}: compile as that user ({service})")
    return cache


def _compiled(config: Config, host: str | None, programs: Path) -> Iterator[Compiled]:
    """Compile for each worker of the host that runs on OpenCL, one after another."""
    from edged.doctor.trial import try_worker
    from edged.runtime.drivers import why_drivers_may_not_be_loaded
    from edged.runtime.select import device_name, is_numpy
    from edged.worker.process import programs_in

    crash = why_drivers_may_not_be_loaded()
    for index, worker in enumerate(config.workers):
        if worker.host != host or is_numpy(worker):
            continue
        before, start = programs_in(programs), time.perf_counter()
        try:
            if crash:
                raise DeviceError(f"device {worker.device}: {crash}")
            device = device_name(worker)
            try_worker(config, index, compose=True)
        except (DeviceError, MemoryError) as error:
            yield Compiled(index, worker.device, error=str(error) or "out of memory")
            continue
        new = len(programs_in(programs) - before)
        yield Compiled(index, device, new, round(time.perf_counter() - start, 1))


def _print_end(path: Path, cache: Path, done: list[Compiled], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"config": str(path), "cache": str(cache), "workers": [asdict(each) for each in done]}))
    elif not done:
        print(f"{path}: no worker of this host runs on OpenCL: there is nothing to compile")
    else:
        print(f"{path}: the programs are in {cache}")
