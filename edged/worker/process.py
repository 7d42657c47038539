"""The worker process: load the model, open the device, warm up, greet the hub, serve it."""

import logging
import time

import numpy as np

from edged.config import Config, Worker
from edged.connect import Curve
from edged.energy.find import Rails, find_rails
from edged.energy.meter import Meter
from edged.errors import DeviceError
from edged.hub_link import HubLink
from edged.messages import ModelInfo, WorkerHello
from edged.model import reference
from edged.model.package import Model, load_model
from edged.paths import cache_directory
from edged.worker.device_lock import hold_device
from edged.worker.fresh_start import programs_in, start_again_if_compiled
from edged.worker.known import Known, noise
from edged.worker.loop import ANSWERS, Loop, Served
from edged.worker.runtime import Images, ModelRuntime, open_runtime
from edged.worker.scores import ends_in_softmax

WARM_UP_RUNS = 2  # some devices compile at the first launch; the second one runs as all later ones will

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
    runtime = open_runtime(model, worker, cache=cache)
    opened = time.perf_counter()
    forward_s, known = warm_up(runtime, model, worker)
    start_again_if_compiled(cache, cached)
    log.info(
        "worker %s runs %s in %s on %s (model %.2f s, plan %.2f s, warm-up %.2f s)",
        *(config.worker_name(index), model.name, worker.precision, runtime.device_name),
        *(loaded - start, opened - loaded, time.perf_counter() - opened),
    )
    rails = find_rails(config.energy)
    hello = _hello(config.worker_name(index), worker, model, runtime.device_name, forward_s, rails)
    served = Served(model.input.width, model.input.height, worker.batch, ends_in_softmax(model.graph))
    del model  # its weights are the runtime's now
    hub = HubLink(f"worker/{hello.worker}", hub_address, queued=ANSWERS, curve=curve)
    Loop(runtime, served, known, Meter(rails.rails)).run(hub, hello)


def warm_up(runtime: ModelRuntime, model: Model, worker: Worker) -> tuple[float, Known]:
    """Run a batch, so that the first frame does not wait for what a device does once.

    Returns the seconds of the last run, from its submission to its answer, and its answer for one picture.
    Raises DeviceError if the device gives NaN where the reference does not.
    """
    images = noise(worker.batch, model.input.width, model.input.height)
    for _ in range(WARM_UP_RUNS):
        start = time.perf_counter()
        outputs = runtime.submit(images).wait().outputs
    forward_s = time.perf_counter() - start
    if not np.isfinite(outputs[:1]).all() and worker.precision == "fp32":  # half has no number beyond 65504
        _blame_the_model(runtime.device_name, model, images[:1])
    return forward_s, Known(images[:1], outputs[:1])


def _blame_the_model(device: str, model: Model, images: Images) -> None:
    """Or else the device."""
    graph = model.graph.checked()
    if np.isfinite(reference.run(graph, reference.prepare(images, model.input))).all():
        raise DeviceError(f"{device} answers {model.name} with NaN or infinity, where the reference has numbers")
    log.warning("%s answers even noise with NaN or infinity: frames will be dropped as not_finite", model.name)


def _hello(name: str, worker: Worker, model: Model, device: str, forward_s: float, rails: Rails) -> WorkerHello:
    return WorkerHello(
        worker=name,
        host=worker.host or "",
        device=device,
        precision=worker.precision,
        batch=worker.batch,
        max_wait_s=worker.max_wait_s,
        credit=worker.credit,
        forward_s=forward_s,
        model=ModelInfo(
            name=model.name,
            sha256=model.sha256,
            labels=model.labels,
            width=model.input.width,
            height=model.input.height,
            random_weights=model.random_weights,
        ),
        energy=rails.method,
        energy_note=rails.note,
    )
