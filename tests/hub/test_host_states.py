"""What is shown of the machines of a pipeline."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.hub.stats.hosts import SILENT_NS, HostStates
from edged.messages import Frequency, HostState
from edged.metrics import Metrics
from edged.system.host_watch import HostWatch
from tests.eventually import eventually
from tests.system.sysfs import juno

WARM = HostState(celsius={"cpu-thermal": 41, "gpu-thermal": 44}, frequencies={})
HOT = HostState(celsius={"cpu-thermal": 93}, frequencies={"policy0": Frequency(now=6, limit=8, maximum=10)})


class Hub:
    """Its side of the state of hosts, and what a scrape shows of it. Its own host shows `root`."""

    def __init__(self, root: Path) -> None:
        self.metrics = Metrics("1.2.3")
        self.watch = HostWatch(root)
        self.states = HostStates(self.metrics, "hub", self.watch)

    def celsius(self, node: str, sensor: str) -> float | None:
        labels = {"node": node, "sensor": sensor}
        return self.metrics.registry.get_sample_value("edged_temperature_celsius", labels)

    def hertz(self, what: str, node: str, domain: str) -> float | None:
        labels = {"node": node, "domain": domain}
        return self.metrics.registry.get_sample_value(f"edged_frequency_{what}", labels)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    juno(tmp_path)
    hub = Hub(tmp_path)
    yield hub
    hub.watch.stop()


def test_a_worker_tells_of_its_host(hub: Hub) -> None:
    hub.states.add_report("big-0", "big", HOT, 0)
    assert hub.celsius("big", "cpu-thermal") == 93
    assert [hub.hertz(what, "big", "policy0") for what in ("hertz", "limit_hertz", "max_hertz")] == [6, 8, 10]


def test_a_sensor_that_is_no_longer_reported_goes(hub: Hub) -> None:
    hub.states.add_report("big-0", "big", WARM, 0)
    hub.states.add_report("big-0", "big", HOT, 1)
    assert (hub.celsius("big", "cpu-thermal"), hub.celsius("big", "gpu-thermal")) == (93, None)


def test_of_two_workers_of_a_host_one_tells_until_it_falls_silent(hub: Hub) -> None:
    hub.states.add_report("big-0", "big", WARM, 0)
    hub.states.add_report("big-1", "big", HOT, 1)
    assert hub.celsius("big", "cpu-thermal") == 41
    hub.states.tick(SILENT_NS + 1)
    assert hub.celsius("big", "cpu-thermal") is None
    hub.states.add_report("big-1", "big", HOT, SILENT_NS + 2)
    assert hub.celsius("big", "cpu-thermal") == 93


def test_the_hub_reads_its_own_host_itself(hub: Hub) -> None:
    def shown() -> float | None:
        hub.states.tick(0)
        return hub.celsius("hub", "scpi_sensors.SENSOR_TEMP_PMIC")

    assert eventually(shown) == 40.001
    hub.states.add_report("local-0", "", WARM, 0)
    hub.states.add_report("hub-0", "hub", WARM, 0)
    assert hub.celsius("hub", "cpu-thermal") is None
