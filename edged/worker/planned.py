"""A worker in the hands of `edged plan-split`: it measures, and serves one part of the network after the other."""

import logging

from edged.config import Config
from edged.energy.meter import Meter
from edged.hub_link import HubLink
from edged.messages import Measure, WorkerHello
from edged.model.package import load_model
from edged.paths import cache_directory
from edged.worker.loop import Loop, Wish
from edged.worker.measure import measure
from edged.worker.part import part_of
from edged.worker.ready import make_ready

log = logging.getLogger("edged.worker")


def fulfil(wish: Wish | None, hub: HubLink, hello: WorkerHello, config: Config, index: int, meter: Meter) -> None:
    """One wish after the other, until the hub says stop. The device is free, and `hello` has been said last.

    Raises ModelError for a part that cannot be, DeviceError, and what `Loop.run` does.
    """
    worker, cache = config.workers[index], cache_directory() / "programs"
    ends = (hello.part.begin, hello.part.end) if hello.part else (None, None)
    while wish:
        model = load_model(config.model)
        if isinstance(wish, Measure):
            hub.send(measure(wish, model, worker, cache))
        else:
            ends = wish.begin, wish.end
        ready = make_ready(model, part_of(model, *ends), worker, cache)
        del model
        hello = hello.model_copy(update={"part": ready.part.described, "forward_s": ready.forward_s})
        log.info("worker %s runs %s: %s", hello.worker, hello.model.name, hello.part or "all of it")
        hub.send(hello)
        wish = Loop(ready.runtime, ready.served, ready.known, meter).run(hub, hello)
        ready.runtime.close()
