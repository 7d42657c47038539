"""`edged view` in a browser. One daemon, one view and one page, which is never loaded again but in one test."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import takewhile
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from edged.client import Prediction, subscribe
from tests.e2e.browser import Show, browser_page, percent, when
from tests.e2e.daemon import START_S
from tests.eventually import LIMIT_S, eventually
from tests.given_time import GivenTime

AWAY = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
IS_LIVE = "document.querySelector('#link').textContent === 'Live'"
FRAME = "Number(document.querySelector('[data-camera=door] .shot img').dataset.frame)"
STATES = "[...document.querySelectorAll('.card')].map((card) => card.dataset.state).join()"
# What the page shows of each picture, as it changes: frame, label and score.
WATCH = """
window.pictures = {}
new MutationObserver(() => {
  const shot = document.querySelector('[data-camera=door] .shot')
  const text = (part) => shot.querySelector(part).textContent
  const frame = Number(shot.querySelector('img').dataset.frame)
  if (text('.frame') === `frame ${frame}` && shot.querySelector('img').naturalWidth)
    pictures[frame] = [text('.label'), text('.score')]
}).observe(document.querySelector('[data-camera=door] .shot'), {subtree: true, childList: true})
"""
# What it shows of the newest frame.
NEWEST = """
(() => {
  const known = document.querySelector('[data-camera=door] .known')
  const text = (part) => known.querySelector(part).textContent
  return [text('.number'), text('.labels .label'), text('.labels .score')]
})()
"""


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Show]:
    with ExitStack() as resources:
        yield Show(tmp_path_factory.mktemp("view"), resources)


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the browser has complained of."""
    return []


@pytest.fixture(scope="module")
def page(show: Show, errors: list[str]) -> Iterator[Page]:
    with browser_page() as page:
        page.on("console", lambda message: errors.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(show.url)
        when(page, IS_LIVE)
        when(page, f"{FRAME} > 0")
        page.evaluate("window.isStillThis = true")
        yield page


@pytest.fixture(autouse=True)
def browser_does_not_complain(page: Page, errors: list[str]) -> Iterator[None]:
    """But for a view that is away, of which it tells by itself."""
    errors.clear()
    yield
    assert [error for error in errors if not any(known in error for known in AWAY)] == []
    assert page.evaluate("window.isStillThis"), "the page was loaded again"


def predicted(show: Show, frames: set[int]) -> dict[int, Prediction]:
    """What a subscriber of our own hears of these frames of the camera."""
    stream = subscribe(show.daemon.address, camera="door", since_s=60, timeout_s=START_S)
    found = takewhile(lambda each: each.frame <= max(frames), stream)
    return {each.frame: each for each in found if each.frame in frames}


@pytest.mark.deep
def test_pictures_move_and_bear_the_labels_of_their_frames(show: Show, page: Page) -> None:
    page.evaluate(WATCH)
    when(page, "Object.keys(pictures).length >= 6")
    pictures: dict[str, Any] = page.evaluate("pictures")
    shown = {int(frame): words for frame, words in pictures.items() if words[0] != "not predicted"}
    assert shown
    truth = predicted(show, set(shown))
    assert shown == {frame: [each.top[0].label, percent(each.top[0].score)] for frame, each in truth.items()}


@pytest.mark.deep
def test_the_labels_as_they_come_are_those_of_the_stream(show: Show, page: Page) -> None:
    seen = dict[int, list[str]]()
    while len(seen) < 6:
        number, *words = page.evaluate(NEWEST)
        seen[int("".join(filter(str.isdigit, number)))] = words
    truth = predicted(show, set(seen))
    assert seen == {frame: [each.top[0].label, percent(each.top[0].score)] for frame, each in truth.items()}


@pytest.mark.deep
def test_what_else_is_known_is_there(page: Page) -> None:
    words = ("local-0", "Serving", "fps", "forward", "not measured", "worker local-0 is ready")
    eventually(lambda: not [each for each in words if each not in page.inner_text("body")])
    assert page.inner_text("#node") == "test"
    strip = page.get_attribute("[data-camera=door] .strip", "aria-label")
    assert strip
    assert re.fullmatch(r"Most frequent labels of the last minute: .+ for \d+ s.*", strip)


def test_the_model_that_answers_is_named(show: Show, page: Page) -> None:
    (newest,) = show.daemon.first(1, camera="door")
    model = newest.model

    shown = page.locator("[data-camera=door] .model")

    assert (
        shown.inner_text() == f"Answered by {model.name} ({model.sha256[:8]}), {model.precision}, worker local-0"
    )
    assert shown.get_attribute("title") == f"SHA-256 {model.sha256}, on {model.device}"


def test_a_camera_without_snapshots_says_how_to_get_them(page: Page) -> None:
    card = page.inner_text("[data-camera=yard]")
    assert "Put “snapshot: {}” under cameras.yard in the config, then run “edged reload”" in card
    assert page.locator("[data-camera=yard] .labels li").count() > 1


@pytest.mark.promise("a camera that has gone is red within 3 s")
def test_a_camera_that_is_killed_turns_red_within_3_s_and_green_again(show: Show, page: Page) -> None:
    down = "document.querySelector('[data-camera=door]').dataset.state === 'down'"
    given = GivenTime()
    show.daemon.child("door").kill()
    when(page, down, LIMIT_S)
    assert given.seconds() < 3.0
    colour = page.evaluate("getComputedStyle(document.querySelector('[data-camera=door] .state')).color")
    red, green, blue = map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))
    assert red > 2 * max(green, blue)
    assert "Down" in page.inner_text("[data-camera=door] .state")
    assert page.inner_text("#bad a[href='#camera-door']") == "door down"
    when(page, "document.querySelector('[data-camera=door]').dataset.state === 'up'")
    when(page, "document.querySelector('#announcer').textContent.includes('Camera door')")


@pytest.mark.deep
def test_the_page_finds_a_daemon_that_was_restarted_and_a_reload_mends_nothing(show: Show, page: Page) -> None:
    show.end_daemon()
    when(page, "document.querySelector('#link').textContent === 'Hub silent'")
    assert "has sent nothing for" in page.inner_text(".node .notice")
    assert page.evaluate(STATES) == "stale,stale"
    before = page.evaluate(FRAME)
    show.start_daemon()
    when(page, f"{IS_LIVE} && {FRAME} > 0 && {FRAME} !== {before}")
    when(page, f"{STATES} === 'up,up' && document.querySelector('.workers').textContent.includes('Serving')")
    by_itself = page.evaluate(OUTLINE)
    page.reload()
    page.evaluate("window.isStillThis = true")
    when(page, f"{IS_LIVE} && {STATES} === 'up,up' && {FRAME} > 0")
    assert page.evaluate(OUTLINE) == by_itself


OUTLINE = """
['#node', '#link', '#summary', '.node .notice', '.workers', '.card .name', '.card .state', '.card .why']
  .map((part) => [...document.querySelectorAll(part)].map((each) => each.hidden ? '' : each.textContent).join())
  .join('; ')
"""


@pytest.mark.deep
def test_the_page_finds_a_view_that_was_restarted(show: Show, page: Page, errors: list[str]) -> None:
    show.kill_view()
    when(page, "document.querySelector('#link').textContent === 'View lost'")
    assert "does not answer" in page.inner_text("#notice")
    before = page.evaluate(FRAME)
    show.start_view()
    when(page, f"{IS_LIVE} && {FRAME} > {before}")
    assert page.locator("#notice").is_hidden()
    # a picture that was requested when the view was killed
    errors[:] = [error for error in errors if "ERR_CONNECTION_RESET" not in error]


def test_keys_are_enough_and_pause_holds_the_page(page: Page) -> None:
    page.keyboard.press("Tab")
    focused = "document.activeElement.textContent.trim()"
    for _ in range(4):
        if page.evaluate(focused) == "Pause":
            break
        page.keyboard.press("Tab")
    assert page.evaluate(f"{focused} === 'Pause' && document.activeElement.matches(':focus-visible')")
    page.keyboard.press("Enter")
    assert page.get_attribute("#pause", "aria-pressed") == "true"
    before = page.evaluate(NEWEST)
    time.sleep(0.5)
    assert page.evaluate(NEWEST) == before
    page.keyboard.press("Enter")
    when(page, "document.querySelector('#pause').ariaPressed === 'false'")
    when(page, f"JSON.stringify({NEWEST}) !== JSON.stringify({before})")


@pytest.mark.deep
@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
def test_nothing_is_wider_than_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_legible_to_all(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(ground.removeprefix("rgb(").split(",")[0]) > 128) == (scheme == "light")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
