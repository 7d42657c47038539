"""The hub under cameras and workers of other hosts that never fall silent."""

from pathlib import Path

from tests.e2e.daemon import conserves
from tests.perf.hub_load import Load, heard, hub, swarm


def test_a_hub_to_which_other_hosts_go_on_sending_ends_when_it_is_told_to(tmp_path: Path) -> None:
    load = Load(cameras=4, workers=2, fps=50)
    with hub(load, tmp_path) as daemon, swarm(load, daemon):
        ages = heard(daemon, 0.5)
        summary = daemon.stop()

    assert 0 < len(ages) <= summary["predictions"]
    assert conserves(summary)
