"""`kill -9` of the hub, at any moment, again and again: EDGED_HUB_KILLS=50 for more."""

import os
import random
import signal
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from edged.messages import prediction_from_json
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.witness import Client, RawSubscriber, is_kept, journal_of, processes_of, untimed
from tests.eventually import eventually

pytestmark = pytest.mark.deep

LIVES = int(os.environ.get("EDGED_HUB_KILLS", "8"))
SEED = 4
FAST = {"source": "synthetic:digits", "size": [64, 64], "fps": 200}
KEPT = 1000  # the fewest that a journal may keep: it is trimmed in most of these lives
TRIM_EVERY = 64
PATIENT_S = 10.0  # no prediction goes out before it is kept, however crowded the machine is
MOMENTS = ("while it starts", "at the first prediction", "while it publishes", "while it trims")


class Lives:
    """One daemon after another on the same files, and all that anybody has seen of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config: dict[str, Any] = config_in(
            folder,
            cameras={"demo": FAST},
            journal={"path": str(folder / "journal.sqlite"), "max_predictions": KEPT, "max_wait_s": PATIENT_S},
            freshness={"max_age_s": 2 * PATIENT_S},
        )
        self.raw = RawSubscriber(self.config["publish"]["address"])
        self.client = Client(self.config["publish"]["address"])
        self.journal: dict[int, bytes] = {}
        self.raw.start()
        self.client.start()

    def published(self, more: int) -> None:
        """Wait for so many more predictions."""
        wanted = len(self.raw.seen) + more
        eventually(lambda: len(self.raw.seen) >= wanted)

    def wait_for(self, moment: str, chance: random.Random) -> None:
        match moment:
            case "while it starts":
                time.sleep(chance.uniform(0, 0.6))
            case "at the first prediction":
                self.published(1)
            case "while it publishes":
                self.published(chance.randint(2, 30))
            case "while it trims":
                self.published(1)
                eventually(lambda: self.raw.seen[-1].seq % TRIM_EVERY == TRIM_EVERY - 1)
        time.sleep(chance.uniform(0, 0.008))

    def kill(self, daemon: Daemon) -> None:
        """The hub goes without a word; all of its children must go with it."""
        daemon.process.kill()
        daemon.process.wait()
        eventually(lambda: not processes_of(self.folder))
        self.read_journal()

    def read_journal(self) -> None:
        """Remember what is on disk; what was there before must not have changed."""
        for seq, json in journal_of(self.folder / "journal.sqlite").items():
            assert self.journal.setdefault(seq, json) == json


def test_no_kill_of_the_hub_loses_a_prediction_that_was_published(tmp_path: Path) -> None:
    lives, chance = Lives(tmp_path), random.Random(SEED)  # noqa: S311
    moments = list(islice(cycle(MOMENTS), LIVES))
    chance.shuffle(moments)
    with run_edged(tmp_path, config=lives.config) as daemon:
        lives.published(KEPT - TRIM_EVERY)  # soon there will be something to trim
        lives.kill(daemon)
    for moment in moments:
        with run_edged(tmp_path, config=lives.config) as daemon:
            lives.wait_for(moment, chance)
            if moment != "while it starts" and chance.random() < 0.3:
                chance.choice(daemon.children()).send_signal(signal.SIGSTOP)  # hangs, as a driver may
            lives.kill(daemon)
    with run_edged(tmp_path, config=lives.config) as daemon:
        lives.published(1)
        newest = lives.raw.seen[-1].seq
        eventually(lambda: lives.client.last >= newest)
        lives.client.stop()
        daemon.stop()
    lives.raw.stop()
    lives.read_journal()
    whatever_left_pub_is_in_the_journal_once(lives)
    the_client_has_seen_each_once_and_in_order(lives)


def whatever_left_pub_is_in_the_journal_once(lives: Lives) -> None:
    numbers = [seen.seq for seen in lives.raw.seen]
    assert len(set(numbers)) == len(numbers)
    assert numbers == sorted(numbers)
    assert [seen.seq for seen in lives.raw.seen if not is_kept(seen, lives.journal)] == []
    predictions = map(prediction_from_json, lives.journal.values())
    frames = Counter((each.boot, each.camera, each.frame) for each in predictions)
    assert frames.most_common(1)[0][1] == 1
    assert len({seen.boot for seen in lives.raw.seen}) > LIVES / 2


def the_client_has_seen_each_once_and_in_order(lives: Lives) -> None:
    seen = list(lives.client.seen)
    numbers = [prediction.seq for prediction in seen]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    kept = {seq: untimed(prediction_from_json(json)) for seq, json in lives.journal.items()}
    assert [each.seq for each in seen if untimed(each) != kept[each.seq]] == []
