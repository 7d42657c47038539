"""A subscriber that has missed something, and cannot fetch it before the hub has died and come back."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from edged.messages import prediction_from_json
from tests.camera.proxy import Proxy
from tests.e2e.daemon import config_in, run_edged
from tests.e2e.witness import Client, RawSubscriber, journal_of, untimed
from tests.eventually import eventually

pytestmark = pytest.mark.deep


def test_a_gap_that_is_open_when_the_hub_is_killed_is_filled_by_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = config_in(tmp_path, journal={"path": str(tmp_path / "journal.sqlite")})
    publish = config["publish"]
    with (
        Proxy(urlsplit(publish["address"]).port or 0) as live,
        Proxy(urlsplit(publish["replay"]).port or 0) as replay,
    ):
        raw = RawSubscriber(publish["address"])
        client = Client(f"tcp://127.0.0.1:{live.port}", replay=f"tcp://127.0.0.1:{replay.port}")
        raw.start()
        client.start()
        with run_edged(tmp_path, config=config) as daemon:
            eventually(lambda: client.seen)
            replay.swallow()
            live.cut()  # what is published until it is connected again is missed
            eventually(lambda: "trying again" in caplog.text)
            last, published = client.last, len(raw.seen)
            eventually(lambda: len(raw.seen) > published + 10)
            assert client.last == last
            daemon.process.kill()
            daemon.process.wait()
        replay.let_through()
        with run_edged(tmp_path, config=config) as daemon:
            eventually(lambda: len({seen.boot for seen in raw.seen}) == 2)
            newest = raw.seen[-1].seq
            eventually(lambda: client.last >= newest)
            client.stop()
            daemon.stop()
        raw.stop()
    seen = list(client.seen)
    numbers = [prediction.seq for prediction in seen]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    journal = journal_of(tmp_path / "journal.sqlite")
    kept = {seq: untimed(prediction_from_json(json)) for seq, json in journal.items()}
    assert [each.seq for each in seen if untimed(each) != kept[each.seq]] == []
    assert "lost" not in caplog.text
