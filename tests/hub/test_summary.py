from edged.hub.frames.ledger import Ledger
from edged.hub.stats.summary import CameraTally, Times, camera_line
from edged.messages import CameraCount
from tests.client.statuses import prediction


def test_median_and_99th_percentile() -> None:
    times = Times(1000)
    for value in range(1, 101):
        times.add(float(value))
    assert times.median_and_p99() == (50.5, 99.0)


def test_nothing_is_nothing() -> None:
    assert Times(10).median_and_p99() is None


def test_only_the_newest_count() -> None:
    times = Times(3)
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        times.add(value)
    assert times.median_and_p99() == (4.0, 5.0)


def line_of(dropped: dict[str, int], last: str | None = "7") -> str:
    ledger = Ledger()
    ledger.greeted("run", CameraCount(captured=0, dropped={}))
    ledger.report(CameraCount(captured=sum(dropped.values()), dropped=dropped))
    camera = CameraTally()
    camera.last, camera.since_line = prediction(last) if last else None, 30
    camera.total.add(0.0044)
    return camera_line("demo", 4, 1.0, tally=camera, ledger=ledger, state="")


def test_a_detector_that_has_found_nothing_yet_shows_its_rate() -> None:
    assert line_of({}, last=None).startswith("demo    30 fps  -  ")


def test_a_status_line_names_the_reasons_of_drops_that_fit_80_columns() -> None:
    assert line_of({}).endswith("dropped 0")
    assert line_of({"stale": 6}).endswith("dropped 6 (stale 6)")
    assert line_of({"stale": 6, "superseded": 14}).endswith("dropped 20 (…)") is False
    assert len(line_of({"link_full": 200, "superseded": 1400, "stale": 30, "worker_lost": 9})) < 80
