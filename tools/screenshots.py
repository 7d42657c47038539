"""Make the pictures of the documentation: `python -m tools.screenshots`, on a machine that has nothing else to do.

A daemon with drawn cameras runs for --seconds; then a headless Chromium takes the page of `edged view`, and rich
writes the screen of `edged top` as SVG.
"""

import argparse
import io
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import zmq
from rich.console import Console

from edged.cli.status_rows import ScreenPages, picture
from edged.cli.top.command import watch
from edged.client import subscribe
from edged.client.node_state import NodeState
from edged.client.subscription import Subscription
from edged.system.paths import cache_directory
from tests.e2e.browser import browser_page, when
from tests.e2e.daemon import config_in, run_edged
from tests.eventually import free_port

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "how-to"
CAMERA = {"source": "synthetic:digits", "size": [640, 480], "fps": 15}
CAMERAS = {
    "door": {**CAMERA, "snapshot": {}},
    "yard": {**CAMERA, "seed": 2, "max_fps": 5, "snapshot": {}},
    "gate": {"source": "/dev/v4l/by-id/usb-gate-camera-index0"},
}
WORKERS = [{"device": "auto"}, {"device": "numpy"}]
COLD_START_S = 300.0  # on a busy machine, with nothing compiled
SIZE = 100, 18  # of the terminal, columns and rows
PAGE = {"width": 1280, "height": 1000}
IS_LIVE = "document.querySelector('#link').textContent === 'Live'"
HAS_PICTURES = "[...document.querySelectorAll('.shot img')].filter((each) => each.naturalWidth).length === 2"
END_OF_CARDS = "document.querySelector('[data-camera=door]').getBoundingClientRect().bottom"
NOT_HERE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # fonts that rich's SVG loads from another host


def main(argv: Sequence[str]) -> int:
    """Write the pictures of the terminal view and of the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("--seconds", type=float, default=70, help="how long the daemon has run (default: 70)")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder (default: docs/how-to)")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        config = config_in(Path(folder), node="demo", cameras=CAMERAS, model={"name": "digits"}, workers=WORKERS)
        programs = cache_directory().parent  # what this user has compiled before
        with run_edged(Path(folder), config=config, programs=programs) as daemon, page_of(daemon.address) as url:
            next(subscribe(daemon.address, timeout_s=COLD_START_S))
            with browser_page() as page:
                page.set_viewport_size(PAGE)  # type: ignore[arg-type]
                page.goto(url)
                when(page, IS_LIVE)
                known = look(daemon.address, arguments.seconds)
                when(page, HAS_PICTURES)
                height = page.evaluate(END_OF_CARDS) + 12  # the third camera's card is below
                page.screenshot(
                    path=arguments.output / "view.png",
                    clip={"x": 0, "y": 0, "width": PAGE["width"], "height": height},
                )
            (arguments.output / "top.svg").write_text(terminal(known, daemon.address))
            daemon.stop()
    return 0


@contextmanager
def page_of(address: str) -> Iterator[str]:
    """Serve `edged view` for the daemon at `address` and yield the page's URL."""
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "edged", "view", address, "--listen", listen]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert listen in process.stdout.readline()
            yield f"http://{listen}/"
        finally:
            process.kill()


def look(address: str, seconds: float) -> NodeState:
    """Return what `edged top` knows of the daemon after watching it for so long."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    subscription = Subscription(context, address)
    try:
        ends_at = time.monotonic() + seconds
        found = (known for known in watch(subscription, 0.5) if not known.stale and time.monotonic() > ends_at)
        return next(islice(found, 1))
    finally:
        subscription.close()
        context.term()


def terminal(known: NodeState, address: str) -> str:
    """Draw the screen of `edged top` as SVG; it loads nothing from other hosts."""
    width, height = SIZE
    console = Console(record=True, width=width, height=height, file=io.StringIO(), force_terminal=True)
    console.print(picture(known, address, "", width, height, ScreenPages()))
    return NOT_HERE.sub("", console.export_svg(title="edged top", unique_id="edged-top"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
