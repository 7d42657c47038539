"""What the metrics of a whole hub say of told peers (see tests.hub.peers)."""

import json
import threading
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.eventually import LIMIT_S, TURN_S, in_background
from tests.hub.running import Run

Samples = dict[str, float]


def scrape(run: Run) -> Samples:
    """All samples: `name{label="value"}` → value."""
    address = json.loads(run.path.read_text())["metrics"]["address"]
    with urlopen(f"http://{address}/metrics", timeout=LIMIT_S) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {_key(sample.name, sample.labels): sample.value for family in families for sample in family.samples}


def _key(name: str, labels: dict[str, str]) -> str:
    inside = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{inside}}}" if inside else name


def scrapes_while(run: Run, predictions: int) -> list[Samples]:
    """What was scraped while the hub ran, again and again."""
    scraped: list[Samples] = []

    def look(stop: threading.Event) -> None:
        while not stop.wait(TURN_S):
            with suppress(OSError):  # the hub is not there yet, or there no more
                scraped.append(scrape(run))

    with in_background(look):
        run.until(predictions=predictions)
    return scraped


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """At the end of a run in which all was well."""
    folder = tmp_path_factory.mktemp("figures")
    journal = {"path": str(folder / "journal.sqlite"), "max_megabytes": 16}
    return scrapes_while(Run(folder, ["steady"], ["good"], journal=journal), predictions=200)[-1]


def test_scores_and_labels_of_what_was_predicted(shown: Samples) -> None:
    predicted = shown['edged_predictions_total{camera="steady",model="told"}']
    assert predicted > 0
    assert shown['edged_labels_total{camera="steady",label="yes"}'] == predicted
    assert shown['edged_score_bucket{camera="steady",le="0.8"}'] == 0
    assert shown['edged_score_bucket{camera="steady",le="0.9"}'] == predicted


def test_the_journal_and_the_room_that_it_has(shown: Samples) -> None:
    assert shown["edged_journal_limit_bytes"] == 16 << 20
    assert 0 < shown["edged_journal_bytes"] < shown["edged_journal_limit_bytes"]
    assert shown["edged_journal_disk_free_bytes"] > 0


def test_what_counts_faults_is_there_before_the_first_one(shown: Samples) -> None:
    assert shown['edged_frames_dropped_total{camera="steady",reason="worker_lost"}'] == 0
    assert shown['edged_worker_restarts_total{reason="deadline",worker="local-0"}'] == 0
    assert shown['edged_switches_total{worker="local-0"}'] == 0
    assert shown['edged_journal_errors_total{reason="full"}'] == 0
    assert shown['edged_peers_rejected_total{endpoint="publish.address",reason="unknown_key"}'] == 0


@pytest.mark.deep
def test_a_fallback_shows_as_long_as_another_group_serves(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["exit 3 then good", "good"], recovery={"retry_device_s": 0.5})
    shown = [scraped["edged_fallback"] for scraped in scrapes_while(run, predictions=300)]
    changes = [value for value, before in zip(shown, [None, *shown], strict=False) if value != before]
    assert changes[-2:] == [1, 0]  # and 0 before, where a scrape came early enough to see that
