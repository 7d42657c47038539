"""The worker process: load the model, open the device, warm up, join the hub, serve.

Also serves `edged plan-split`, one part of the network after another. A compiler inside a driver keeps its memory
until the process ends (PoCL's LLVM: 150 MB); so a start that filled the program cache restarts the process, which
then loads every program from the cache and needs no compiler.
"""

import logging
import os
import sys
import time
from functools import partial
from pathlib import Path

import msgspec

from edged.config import Config
from edged.energy.find import find_rails
from edged.energy.meter import Meter, meter_of
from edged.messages import MeasureRequest, WorkerHello
from edged.model.model_part import part_of
from edged.model.package import load_model
from edged.runtime.select import hold_device
from edged.system.host_watch import HostWatch
from edged.system.paths import cache_directory, program_cache
from edged.transport.client_socket import Curve
from edged.transport.hub_link import HubLink, open_hub_link
from edged.worker.driver_choice import DriverChoice
from edged.worker.loop import ANSWERS, Loop, PlanSplitRequest
from edged.worker.measure import measure
from edged.worker.warm_up import compose_in_background, hello_of, make_ready

log = logging.getLogger("edged.worker")


def serve_plan_split(
    request: PlanSplitRequest | None, hub: HubLink, hello: WorkerHello, config: Config, index: int, meter: Meter
) -> None:
    """Serve requests of `edged plan-split` one after another, until the hub stops this worker. The device is free.

    Raises ModelError for an impossible part, DeviceError, and what `Loop.run` does.
    """
    hub.stop_requests()  # `edged plan-split` reads its links only between its own computations
    worker, cache = config.workers[index], program_cache()
    ends = (hello.part.begin, hello.part.end) if hello.part else (None, None)
    while request:
        model = load_model(config.model)
        if isinstance(request, MeasureRequest):
            hub.send(measure(request, model, worker, cache))
        else:
            ends = request.begin, request.end
        ready = make_ready(part_of(model, *ends), worker, cache)
        del model
        before, part = hello.part, ready.part.described
        hello = msgspec.structs.replace(hello, part=part, forward_s=ready.forward_s)
        if part != before:
            log.info("worker %s runs %s: %s", hello.worker, hello.model.name, part or "all of it")
        hub.send(hello)
        request = Loop(ready.runtime, ready.served, ready.self_check, meter).run(hub, hello)
        ready.runtime.close()


ONCE = "EDGED_STARTED_AGAIN"  # in the environment: never restart twice, whatever the cache does


def programs_in(cache: Path) -> frozenset[str]:
    """Return the names of the files in a cache folder, which need not exist."""
    return frozenset(file.name for file in cache.glob("*"))


def start_again_if_compiled(cache: Path, before: frozenset[str]) -> None:
    """Replace this process by the same command if `cache` has more programs than `before`; otherwise return.

    Call it while no connection is open. Kernel settings of the process are kept (see `child`).
    """
    if os.environ.get(ONCE) or programs_in(cache) <= before:
        return
    log.info("kernels cached; restarting the worker to free the compiler's memory")
    sys.stderr.flush()
    os.environ[ONCE] = "1"
    os.closerange(3, 1024)  # some drivers leave their device open for the next program
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 (our own command line)


def run_worker(config: Config, index: int, hub_address: str, curve: Curve | None = None) -> None:
    """Serve the hub with `config.workers[index]` until it says stop. The link is open until the process ends.

    Raises ModelError, DeviceError (also if another worker uses the device), or MessageError if the hub refuses
    this worker.
    """
    worker = config.workers[index]
    start = time.perf_counter()
    model = load_model(config.model, lazily=True)
    loaded = time.perf_counter()
    cache = program_cache()
    cached = programs_in(cache)
    driver = DriverChoice(config, index, model)
    driver.take()
    hold_device(worker, config.worker_name(index))
    ready = make_ready(part_of(model, *config.ends_of(index)), worker, cache)
    start_again_if_compiled(cache, cached)
    rails = find_rails(config.energy, worker.rails)
    meter = meter_of(rails, cache_directory())
    hello = hello_of(config.worker_name(index), worker, model, ready, rails, meter)
    log.info(
        "worker %s: model %s%s, %s, on %s; loaded in %.2f s, ready after %.2f s",
        *(hello.worker, model.name, f", {hello.part}" if hello.part else "", worker.precision, hello.device),
        *(loaded - start, time.perf_counter() - start),
    )
    watch = HostWatch(config.energy.sysfs) if worker.host else None
    loop = Loop(ready.runtime, ready.served, ready.self_check, meter, watch)
    del model  # the runtime owns its weights now
    hub = open_hub_link(f"worker/{hello.worker}", hub_address, queued=ANSWERS, curve=curve)
    compose_in_background(ready.runtime, partial(driver.measure, ready.forward_s))
    request = loop.run(hub, hello)
    if request:
        ready.runtime.close()
        serve_plan_split(request, hub, hello, config, index, meter)
