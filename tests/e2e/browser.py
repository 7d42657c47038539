"""A real Chromium on the page of a real `edged view` of a real daemon."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.eventually import LIMIT_S, eventually, free_port

CAMERA = {"source": "synthetic:digits", "size": [160, 120], "fps": 30}
CAMERAS = {"door": {**CAMERA, "snapshot": {"every_s": 0.2}}, "yard": {**CAMERA, "fps": 5}}


class Show:
    """Daemon and view, each of which may be ended and started again by itself.

    The view comes first, and so shows all events of the daemon.
    """

    def __init__(self, folder: Path, resources: ExitStack, **sections: Any) -> None:
        """`sections`: of the config, in place of two cameras of digits."""
        self.folder = folder
        self._resources = resources
        self._listen = f"127.0.0.1:{free_port()}"
        self._config = config_in(folder, **{"cameras": CAMERAS, **sections})
        self._daemon_run = ExitStack()
        self.start_view()
        self.start_daemon()

    @property
    def url(self) -> str:
        return f"http://{self._listen}/"

    def start_daemon(self) -> None:
        self._daemon_run = self._resources.enter_context(ExitStack())
        self.daemon: Daemon = self._daemon_run.enter_context(run_edged(self.folder, config=self._config))

    def end_daemon(self) -> None:
        self.daemon.stop()
        self._daemon_run.close()

    def start_view(self) -> None:
        command = [
            sys.executable,
            "-m",
            "edged",
            "view",
            self._config["publish"]["address"],
            "--listen",
            self._listen,
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.view = self._resources.enter_context(process)
        self._resources.callback(process.kill)
        assert process.stdout
        assert self.url in process.stdout.readline()

    def kill_view(self) -> None:
        self.view.kill()
        self.view.wait(LIMIT_S)


@contextmanager
def browser_page() -> Iterator[Page]:
    """An empty page of a browser that is there. Pytest shows what it says where a test fails."""
    program = shutil.which("chromium")
    if program is None:
        is_ubuntu = "ubuntu" in Path("/etc/os-release").read_text().lower()
        pytest.skip("no Chromium but as a snap" if is_ubuntu else "chromium is absent: apt install chromium")
    arguments = ["--disable-gpu", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.on("console", lambda message: print("page:", message.type, message.text))
            page.on("pageerror", lambda error: print("page: uncaught", error.stack or error))
            page.on("crash", lambda _: print("page: its process has crashed"))
            page.on("framenavigated", lambda frame: print("page: shows", frame.url))
            page.on("requestfailed", lambda request: print("page: no answer to", request.url, request.failure))
            yield page
        finally:
            browser.close()


def when(page: Page, script: str, within_s: float = LIMIT_S) -> Any:
    """The first truthy value of a JavaScript expression in the page."""
    return eventually(lambda: page.evaluate(script), within_s)


def percent(score: float) -> str:
    """A share as the page shows it."""
    share = 100 * score
    return f"{share:.0f} %" if share >= 99.95 or share < 0.05 else f"{share:.1f} %"
