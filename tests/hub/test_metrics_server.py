"""The endpoint that Prometheus scrapes, in a process with its tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

import pytest

from edged.hub.links.authentication import Rejections
from edged.hub.stats.metrics_server import Scrapes
from edged.metrics import Metrics
from tests.eventually import free_port
from tests.hub.services import new_services


@contextmanager
def scrapes(port: int) -> Iterator[None]:
    metrics = Metrics("1.2.3")
    server = Scrapes("127.0.0.1", port, metrics.text, Rejections(metrics.peers_rejected), None)
    server.start(new_services())
    try:
        yield
    finally:
        server.stop()


def test_it_answers_on_its_address_alone_and_a_second_one_fails() -> None:
    port = free_port()
    with scrapes(port):
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            assert 'edged_build_info{version="1.2.3"} 1.0' in answer.read().decode()
        with pytest.raises(OSError, match="in use"), scrapes(port):
            pass
