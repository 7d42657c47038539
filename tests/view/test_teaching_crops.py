"""Crops on the teaching page: shown, deleted, and made of snapshots that were seen."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edged.model.head_versions import teach_folder
from edged.teach.store import CropStore
from tests.view.teaching_browser import Browser, jpeg, see_all, teaching


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with teaching(tmp_path) as browser:
        yield browser


def test_what_was_seen_becomes_crops_many_at_once(browser: Browser) -> None:
    browser.log_in()
    see_all(browser, (0.9, 50), (0.4, 100), (0.99, 150))
    _, seen = browser.ask("GET", "/teach/seen")
    numbers = [each["number"] for each in seen["least_certain"][:2]]
    assert [each["score"] for each in seen["last"]] == [0.99, 0.4, 0.9]
    assert [each["score"] for each in seen["least_certain"]] == [0.4, 0.9, 0.99]
    assert browser.ask("GET", f"/teach/seen/{numbers[0]}.jpg") == (200, jpeg(100))

    labelled = browser.ask("POST", "/teach/label", {"pictures": numbers, "label": "open"})

    assert labelled == (200, {"label": "open", "new": 2, "stored_before": 0})
    assert [each["score"] for each in browser.ask("GET", "/teach/seen")[1]["last"]] == [0.99]
    store = CropStore.read(teach_folder("box"))
    assert [(crop.camera, crop.recorded_at, crop.label) for crop in store.crops] == [
        ("door", 100.0, "open"),
        ("door", 110.0, "open"),
    ]
    pixels = store.pixels(store.crops[0])
    assert pixels.shape == (24, 24, 3)  # as the network gets it
    assert abs(int(pixels.mean()) - 50) <= 1
    assert browser.ask("POST", "/teach/label", {"pictures": numbers, "label": "open"})[0] == 409


def test_crops_are_shown_and_can_be_deleted(browser: Browser) -> None:
    browser.log_in()
    pictures = see_all(browser, (0.9, 60), (0.9, 120))
    browser.ask("POST", "/teach/label", {"pictures": pictures, "label": "half open"})
    (label,) = browser.ask("GET", "/teach/state")[1]["labels"]
    newest, oldest = label["newest"]
    path = f"/teach/crop/half%20open/{newest['sha256']}.png"
    assert newest["at"] == 110.0
    assert browser.ask("GET", path)[1].startswith(b"\x89PNG")

    gone = [("half open", newest["sha256"]), ("half open", "0" * 64)]
    assert browser.ask("POST", "/teach/delete", {"crops": gone}) == (200, {"removed": 1})

    assert browser.ask("GET", path)[0] == 404
    (label,) = browser.ask("GET", "/teach/state")[1]["labels"]
    assert [each["sha256"] for each in label["newest"]] == [oldest["sha256"]]


def test_another_process_can_teach_between_two_changes_of_the_page(browser: Browser, tmp_path: Path) -> None:
    browser.log_in()
    browser.ask("POST", "/teach/label", {"pictures": see_all(browser, (0.9, 90)), "label": "open"})

    forget = [sys.executable, "-m", "edged", "teach", "forget", str(tmp_path / "edged.yaml"), "open"]
    assert subprocess.run(forget, check=False, capture_output=True).returncode == 0

    assert browser.ask("GET", "/teach/state")[1]["labels"] == []


def test_all_crops_of_a_label_can_be_deleted_at_once(browser: Browser) -> None:
    browser.log_in()
    browser.ask("POST", "/teach/label", {"pictures": see_all(browser, (0.9, 60), (0.9, 120)), "label": "open"})
    assert browser.ask("POST", "/teach/forget", {"label": "open"}) == (200, {"removed": 2})
    assert browser.ask("GET", "/teach/state")[1]["labels"] == []
    assert browser.ask("POST", "/teach/forget", {"label": "open"})[0] == 409


def test_a_job_that_runs_is_not_disturbed(browser: Browser) -> None:
    browser.log_in()
    pictures = see_all(browser, (0.9, 90))
    browser.ask("POST", "/teach/start", {"action": "train"})
    status, answer = browser.ask("POST", "/teach/label", {"pictures": pictures, "label": "open"})
    assert (status, answer["error"]) == (
        409,
        "anna has started a training, which still runs: one job at a time",
    )


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("label", {"pictures": [], "label": "open"}),
        ("label", {"pictures": ["x"], "label": "open"}),
        ("label", {"pictures": [1], "label": "a\0"}),
        ("delete", {"crops": [["open"]]}),
        ("forget", {"label": "-x"}),
        ("delete", {"crops": [["open", "../../x", "y"]]}),
    ],
)
def test_a_list_that_is_none_is_rejected(browser: Browser, what: str, body: Any) -> None:
    browser.log_in()
    assert browser.ask("POST", f"/teach/{what}", body)[0] == 400


@pytest.mark.parametrize(
    "path", ["crop/..%2f..%2f/x.png", "crop/open/..%2fx.png", "seen/x.jpg", f"seen/{'9' * 5000}.jpg"]
)
def test_a_picture_that_is_none_is_not_found(browser: Browser, path: str) -> None:
    browser.log_in()
    assert browser.ask("GET", f"/teach/{path}") in [(404, b""), (404, b"Not Found"), (204, b"")]
