"""The cards of the page in a browser that hears of predictions before it hears of their node."""

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import browser_page
from tests.eventually import LIMIT_S
from tests.view.opened_view import View, serving
from tests.view.published import arrival, status

CAMERAS = ("door", "gate", "yard")


@pytest.mark.deep
@pytest.mark.parametrize("number", [2, 3])
def test_only_few_cameras_show_where_their_time_goes(number: int) -> None:
    cameras = CAMERAS[:number]
    with serving() as view, browser_page() as page:
        expect.set_options(timeout=1000 * LIMIT_S)
        view.watcher.add(status(*cameras), time.monotonic())
        for camera in cameras:
            view.watcher.add(arrival(1, camera=camera), time.monotonic())
        wait_until_nodes_come_last(view)

        page.goto(f"http://127.0.0.1:{view.port}/")

        expect(page.locator(".card[data-state=up]")).to_have_count(number)
        expect(page.locator("details.times[open]")).to_have_count(number if number <= 2 else 0)


def wait_until_nodes_come_last(view: View) -> None:
    """Of the events for a new browser: so it is once the node was sent a second time."""
    with view.get("/events") as events:
        nodes = 0
        while nodes < 2:
            nodes += events.readline() == b"event: node\n"
