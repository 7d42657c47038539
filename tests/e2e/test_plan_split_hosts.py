"""`edged plan-split` over a slow link to another host: what crosses counts more than what computes."""

import json
import sys
from pathlib import Path

import pytest

from edged.transport.keys import new_pair
from tests.e2e.daemon import SYNTHETIC, compiled
from tests.e2e.hosts import Host, hosts
from tests.eventually import LIMIT_S

pytestmark = pytest.mark.deep

TEN_MEGABITS = 0.8e-6  # seconds a byte


def config_of(folder: Path, host: Host, hub: Host) -> Path:
    keys = folder / "keys"
    config = {
        "node": "test",
        "cameras": {"yard": SYNTHETIC},
        "workers": [{"device": "numpy", "threads": 1}, {"device": "numpy", "threads": 1, "host": "big"}],
        "link": {"address": f"tcp://{hub.address}:5572"},
        "security": {
            "key": str(keys / f"{host.name}.key"),
            "hub": str(keys / "hub.pub"),
            "allow": [],
            "workers": [str(keys / "big.pub")],
        },
    }
    path = folder / f"{host.name}.yaml"
    path.write_text(json.dumps(config))
    return path


def test_over_ten_megabits_the_cut_is_where_little_crosses(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    with hosts("hub", "big") as (hub, big), hub.slow("10mbit"), big.slow("10mbit"):
        for host in (hub, big):
            new_pair(tmp_path / "keys", host.name)
        edged, state = (sys.executable, "-m", "edged"), {"XDG_CACHE_HOME": str(compiled())}
        worker = big.start(
            [*edged, "worker", "--host", "big", "--config", config_of(tmp_path, big, hub)],
            tmp_path / "big.log",
            XDG_STATE_HOME=str(tmp_path / "big"),
            **state,
        )
        plan = hub.start(
            [*edged, "plan-split", config_of(tmp_path, hub, hub), "--duration", "0.3", "--try", "--json"],
            tmp_path / "hub.log",
            XDG_STATE_HOME=str(tmp_path / "hub"),
            **state,
        )
        try:
            assert plan.wait(LIMIT_S) == 0, (tmp_path / "hub.log").read_text()
            assert worker.poll() is None, (tmp_path / "big.log").read_text()
        finally:
            for process in (plan, worker):
                process.kill()
                process.wait()
    found = json.loads((tmp_path / "hub.out").read_text())
    remote = found["workers"]["big-1"]
    for way in ("out_s_per_byte", "back_s_per_byte"):
        assert remote["link"][way] > 0.6 * TEN_MEGABITS  # a bucket of 64 kB passes at once
    crosses = {place["after"]: place["nbytes"] for place in remote["cut_points"][1:-1]}
    first, second = found["ways"][3]["parts"]
    assert (first["unit"], second["unit"]) == ("local-0", "big-1")  # the images stay at home
    assert crosses[first["end"]] < 120 * 120 * 3
    assert (tmp_path / "big.log").read_text().splitlines()[-1].endswith("worker big-1 runs digits: all of it")
