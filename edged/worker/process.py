"""The worker process: load the model, open the device for its part, warm up, greet the hub, serve it."""

import logging
import time

from edged.config import Config
from edged.connect import Curve
from edged.energy.find import find_rails
from edged.energy.idle import meter_of
from edged.host.watch import HostWatch
from edged.hub_link import HubLink
from edged.model.package import load_model
from edged.paths import cache_directory
from edged.worker.device_lock import hold_device
from edged.worker.fresh_start import programs_in, start_again_if_compiled
from edged.worker.loop import ANSWERS, Loop
from edged.worker.part import part_of
from edged.worker.planned import fulfil
from edged.worker.ready import hello_of, make_ready

log = logging.getLogger("edged.worker")


def run_worker(config: Config, index: int, hub_address: str, curve: Curve | None = None) -> None:
    """Serve the hub with `config.workers[index]` until it says stop. The link is open until the process ends.

    Raises ModelError, DeviceError (also where another worker drives the device), or MessageError where the hub
    refuses this worker.
    """
    worker = config.workers[index]
    start = time.perf_counter()
    model = load_model(config.model, lazily=True)
    loaded = time.perf_counter()
    cache = cache_directory() / "programs"
    cached = programs_in(cache)
    hold_device(worker, config.worker_name(index))
    ready = make_ready(model, part_of(model, *config.ends_of(index)), worker, cache)
    start_again_if_compiled(cache, cached)
    rails = find_rails(config.energy, worker.rails)
    meter = meter_of(rails, cache_directory())
    hello = hello_of(config.worker_name(index), worker, model, ready, rails, meter)
    log.info(
        "worker %s runs %s (%s) in %s on %s (model %.2f s, plan and warm-up %.2f s)",
        *(hello.worker, model.name, hello.part or "all of it", worker.precision, hello.device),
        *(loaded - start, time.perf_counter() - loaded),
    )
    watch = HostWatch(config.energy.sysfs) if worker.host else None
    loop = Loop(ready.runtime, ready.served, ready.known, meter, watch)
    del model  # its weights are the runtime's now
    hub = HubLink(f"worker/{hello.worker}", hub_address, queued=ANSWERS, curve=curve)
    wish = loop.run(hub, hello)
    if wish:
        ready.runtime.close()
        fulfil(wish, hub, hello, config, index, meter)
