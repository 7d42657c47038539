"""Labelling what was seen, and deleting crops, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from edged.model.head_versions import teach_folder
from edged.teach.store import CropStore
from tests.e2e.browser import browser_page
from tests.eventually import LIMIT_S
from tests.view.teaching_browser import PASSWORD, see_all, teaching


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """The page of a teacher whose view has seen five pictures, the first one least certain."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with teaching(tmp_path) as browser, browser_page() as page:
        browser.log_in()
        see_all(browser, *((0.5 + place / 20, 40 * place) for place in range(5)))
        expect.set_options(timeout=1000 * LIMIT_S)
        page.goto(f"http://127.0.0.1:{browser.port}/")
        page.evaluate("document.querySelector('#teach').hidden = false")  # this test has no hub
        page.click("#teach")
        page.fill("#teaching input[type=text]", "anna")
        page.fill("#teaching input[type=password]", PASSWORD)
        page.click("#teaching button:text-is('Log in')")
        expect(page.locator(".seen-before .tile")).to_have_count(5)
        yield page


def counts() -> dict[str, int]:
    crops = CropStore.read(teach_folder("box")).crops
    labels = [crop.label for crop in crops]
    return {label: labels.count(label) for label in sorted(set(labels))}


def test_many_pictures_get_a_label_by_a_click_or_a_digit(page: Page) -> None:
    seen = page.locator(".seen-before .tile")
    seen.nth(0).click()
    seen.nth(1).click()
    page.fill(".label-buttons input", "open")
    page.click(".label-buttons button:text-is('Label')")
    expect(seen).to_have_count(3)
    assert counts() == {"open": 2}

    seen.nth(0).click()
    page.fill(".label-buttons input", "a rather long label")
    page.press(".label-buttons input", "Enter")
    expect(seen).to_have_count(2)

    seen.nth(1).focus()
    page.keyboard.press("2")  # nothing is chosen: it is for the picture with the focus
    expect(seen).to_have_count(1)
    assert counts() == {"a rather long label": 1, "open": 3}


@pytest.mark.deep
def test_crops_can_be_told_apart_and_deleted(page: Page) -> None:
    seen, crops = page.locator(".seen-before .tile"), page.locator(".crops .tile")
    for place in range(3):
        seen.nth(place).click()
    page.fill(".label-buttons input", "open")
    page.click(".label-buttons button:text-is('Label')")
    expect(crops).to_have_count(3)
    expect(page.locator(".strip-of b")).to_have_text(["open"])
    size = page.evaluate("(({width, height}) => [width, height])(document.querySelector('.crops img'))")
    assert size == [64, 64]

    crops.nth(0).click()
    crops.nth(1).click()
    crops.nth(1).click()  # a second thought
    page.click(".crops button:text-is('Delete 1 crop')")

    expect(crops).to_have_count(2)
    assert counts() == {"open": 2}
