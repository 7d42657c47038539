"""Teaching from the page, in a browser; several nodes on one page; what happened before it was opened."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.browser import browser_page
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.eventually import free_port

PASSWORD = "correct horse"  # noqa: S105 - of no other view
CROPS = 12
JOB_MS = 300_000  # on a machine that is busy
Answer = Callable[[Route], None]
CAMERAS = {name: {"source": f"synthetic:{name}", "size": [160, 120], "fps": 20} for name in ("ring", "cross")}


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Daemon]]:
    """One that `anna` may teach, and another one."""
    with ExitStack() as resources:
        folder = tmp_path_factory.mktemp("gate")
        (folder / "anna.password").write_text(f"{PASSWORD}\n")
        config = config_in(folder, node="gate", cameras=CAMERAS, view={"teachers": {"anna": "anna.password"}})
        gate = resources.enter_context(run_edged(folder, config=config))
        yard_folder = tmp_path_factory.mktemp("yard")
        other = config_in(yard_folder, node="yard", workers=[{"device": "numpy", "threads": 1}])
        yard = resources.enter_context(run_edged(yard_folder, config=other))
        gate.first(5)
        yard.first(5)
        yield gate, yard


@pytest.fixture(scope="module")
def page(daemons: tuple[Daemon, Daemon]) -> Iterator[Page]:
    """The page of a view that is started after both daemons."""
    gate, yard = daemons
    listen = f"127.0.0.1:{free_port()}"
    config = gate.folder / "edged.yaml"
    command = ["edged", "view", yard.address, "--teach", str(config), "--listen", listen]
    environment = {**os.environ, "XDG_STATE_HOME": str(gate.folder)}
    with (
        subprocess.Popen(
            [sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True, env=environment
        ) as view,
        browser_page() as page,
    ):
        assert view.stdout
        assert listen in view.stdout.readline()
        page.set_default_timeout(JOB_MS)
        expect.set_options(timeout=JOB_MS)
        page.goto(f"http://{listen}/")
        try:
            yield page
        finally:
            view.terminate()


@pytest.mark.deep
def test_several_nodes_are_on_one_page(page: Page) -> None:
    expect(page.locator(".node-name")).to_have_text(["gate", "yard"])
    expect(page.locator("#link")).to_have_text("Live")
    expect(page.locator("#summary")).to_have_text("3 of 3 cameras up")
    assert page.locator(".node").nth(0).locator(".card").count() == 2
    assert page.locator(".node").nth(1).locator(".card").count() == 1


@pytest.mark.deep
def test_what_happened_before_the_view_was_started_is_shown(page: Page) -> None:
    expect(page.locator(".node").nth(0).locator(".events")).to_contain_text("camera ring is up")
    expect(page.locator(".node").nth(1).locator(".events")).to_contain_text("worker local-0 is ready")


@pytest.mark.deep
def test_only_who_may_teach_can_do_so(page: Page) -> None:
    page.goto(page.url)
    press_teach(page)
    expect(page.locator("#teaching input").first).to_be_visible()
    log_in(page, "wrong")
    expect(page.locator("#teaching .problem")).to_have_text("Wrong name or password.")
    log_in(page, PASSWORD)
    expect(page.locator("#teaching h2")).to_have_text("Teach gate")
    expect(page.locator("#teaching select")).to_be_visible()

    page.reload()
    press_teach(page)
    expect(page.locator("#teaching h2")).to_have_text("Teach gate")


@pytest.mark.deep
def test_a_daemon_learns_two_labels_and_unlearns_them(page: Page) -> None:
    open_teaching(page)
    for camera in CAMERAS:
        record(page, camera)
    page.click("#teaching button:text-is('Train')")
    expect(page.locator(".job .done")).to_contain_text("trained on")
    expect(page.locator(".crops .tile")).to_have_count(2 * CROPS)

    page.route("**/teach/start", shadow_until_stopped)
    page.click("#teaching button:text-is('Shadow')")
    stop = page.wait_for_selector("#teaching button:text-is('Stop')")
    expect(page.locator(".job")).to_contain_text("frames")
    assert stop
    stop.click()  # the same button, however often the page has looked at the job meanwhile
    expect(page.locator(".job .done")).to_contain_text("both models agree on")
    page.unroute("**/teach/start")

    page.click("#teaching button:text-is('Promote')")
    expect(page.locator(".job .done")).to_contain_text("(cross, ring) answers from prediction")
    expect(page.locator("#camera-ring .labels .label").first).to_have_text(re.compile("ring|cross"))
    expect(page.locator(".node").nth(0).locator(".events")).to_contain_text("(cross, ring) answers")

    page.click("#teaching button:text-is('Roll back')")
    expect(page.locator(".job .done")).to_contain_text("The config's model answers")


def shadow_until_stopped(route: Route) -> None:
    """Let it last for longer than a page of a busy machine takes to show it."""
    route.continue_(post_data=json.dumps({**(route.request.post_data_json or {}), "seconds": 600}))


def no_answer(route: Route) -> None:
    route.abort()


def no_json(route: Route) -> None:
    route.fulfill(status=500, body="no JSON")


def a_state_of_another_version(route: Route) -> None:
    route.fulfill(json={"node": "gate"})


@pytest.mark.deep
@pytest.mark.parametrize(
    ("what", "answer", "told"),
    [
        ("session", no_answer, "Teaching cannot be opened: The view does not answer."),
        ("session", no_json, "Teaching cannot be opened: The view answers with status 500, and no JSON."),
        ("job", no_answer, "Teaching cannot be opened: The view does not answer."),
        ("state", no_json, "Teaching cannot be opened: The view answers with status 500, and no JSON."),
        ("state", a_state_of_another_version, "Teaching cannot be opened: Cannot read properties of undefined"),
    ],
    ids=["no session", "broken session", "no job", "broken state", "state that cannot be drawn"],
)
def test_a_failure_says_what_has_failed_and_is_tried_again(
    page: Page, what: str, answer: Answer, told: str
) -> None:
    open_teaching(page)
    page.reload()
    page.route(f"**/teach/{what}", answer)
    press_teach(page)
    expect(page.locator("#teaching .problem")).to_contain_text(told)
    assert "Teach gate" not in page.inner_text("#teaching")
    page.unroute(f"**/teach/{what}")

    page.click("#teaching button:text-is('Try again')")
    expect(page.locator("#teaching h2")).to_have_text("Teach gate")
    expect(page.locator("#teaching .problem")).to_have_count(0)
    expect(page.locator("#teaching select")).to_be_visible()


@pytest.mark.deep
def test_a_job_that_is_not_started_can_be_tried_again(page: Page) -> None:
    open_teaching(page)
    page.route("**/teach/start", no_answer)
    page.fill("#teaching input[list]", "ring")
    page.fill("#teaching input[type=number]", "1")
    page.click("#teaching button:text-is('Record')")
    expect(page.locator("#teaching .problem")).to_have_text("record was not started: The view does not answer.")
    page.unroute("**/teach/start")
    page.click("#teaching button:text-is('Try again')")
    expect(page.locator(".job .done")).to_contain_text("Recorded “ring”")


@pytest.mark.deep
def test_who_is_not_logged_in_any_more_gets_the_form(page: Page) -> None:
    open_teaching(page)
    page.context.clear_cookies()
    page.fill("#teaching input[list]", "ring")
    page.click("#teaching button:text-is('Record')")
    expect(page.locator("#teaching .problem")).to_have_text("record was not started: Log in first.")
    page.click("#teaching button:text-is('Try again')")
    log_in(page, PASSWORD)
    expect(page.locator("#teaching select")).to_be_visible()


@pytest.mark.deep
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_forms_fit_on_a_phone(page: Page, width: int) -> None:
    open_teaching(page)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def open_teaching(page: Page) -> None:
    """Open the page anew, and its forms; log in where that is asked for."""
    page.goto(page.url)
    press_teach(page)
    name, forms = page.locator("#teaching input[autocomplete=username]"), page.locator("#teaching select")
    expect(name.or_(forms)).to_be_visible()
    if name.is_visible():
        log_in(page, PASSWORD)
    expect(forms).to_be_visible()


def press_teach(page: Page) -> None:
    """Press the button by a key: a click may miss it, since the header moves it while the page fills."""
    page.locator("#teach").wait_for()
    page.press("#teach", "Enter")


def log_in(page: Page, password: str) -> None:
    page.fill("#teaching input[type=text]", "anna")
    page.fill("#teaching input[type=password]", password)
    page.click("#teaching button:text-is('Log in')")


def record(page: Page, camera: str) -> None:
    page.select_option("#teaching select", camera)
    page.fill("#teaching input[list]", camera)
    page.fill("#teaching input[type=number]", str(CROPS))
    page.click("#teaching button:text-is('Record')")
    expect(page.locator(".job .done")).to_contain_text(f"Recorded “{camera}”: {CROPS} new crops")
