"""A board whose layers are timed: what its hub shows while `edged profile --attach` runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Gauge, Summary, start_http_server

from tests.background import in_background
from tests.eventually import free_port

LAYERS = {("conv1", "conv_vector"): 0.002, ("layer1.0.conv1", "conv_winograd"): 0.004, ("fc", "dense"): 0.0005}
FRAME_S = 0.05


@contextmanager
def profiled() -> Iterator[str]:
    """Its address."""
    registry, port = CollectorRegistry(), free_port()
    layers = Summary("edged_layer_seconds", "Time of a layer.", ["layer", "variant"], registry=registry)
    Gauge("edged_worker_serving", "Whether a worker gets jobs.", registry=registry).set(1)

    def run(stopped: threading.Event) -> None:
        while not stopped.wait(FRAME_S):
            for labels, seconds in LAYERS.items():
                layers.labels(*labels).observe(seconds)

    server, thread = start_http_server(port, "127.0.0.1", registry)
    try:
        with in_background(run):
            yield f"127.0.0.1:{port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
