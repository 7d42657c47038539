"""A view whose user `anna` may teach, and a browser of hers."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import cv2
import msgspec
import numpy as np

from edged.client.subscription import Arrival, SnapshotPicture
from edged.config.load import password_in
from edged.messages import Label, SnapshotHeader, to_json
from edged.model.head_versions import teach_folder
from edged.teach.page_folder import PageFolder, Taking
from edged.view.server import view_server
from edged.view.teach_jobs import TeachJobs
from edged.view.teaching import Teachers
from edged.view.watcher import Watcher
from edged.web.server import bound
from tests.eventually import LIMIT_S, free_port
from tests.view.published import prediction

HOST = "127.0.0.1"
PASSWORD = "correct horse"  # noqa: S105 - of no other view
CONFIG = "node: box\ncameras: {door: {source: 'synthetic:ring'}}\n"


class Browser:
    """A browser that keeps cookies and the token of its session."""

    def __init__(self, port: int, watcher: Watcher) -> None:
        self.port = port
        self.watcher = watcher  # of the view
        self.headers: dict[str, str] = {}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        return self.send(method, path, None if body is None else json.dumps(body).encode(), **headers)

    def send(self, method: str, path: str, body: bytes | None, **headers: str) -> tuple[int, Any]:
        """The same for a body as it is."""
        with closing(HTTPConnection(HOST, self.port, timeout=LIMIT_S)) as connection:
            sent = {"content-type": "application/json", **self.headers, **headers}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            if cookie := answer.getheader("set-cookie"):
                self.cookie = cookie
                self.headers["cookie"] = cookie.partition(";")[0]
            is_json = answer.getheader("content-type") == "application/json"
            content = answer.read()
            return answer.status, json.loads(content) if is_json else content

    def log_in(self, password: str = PASSWORD, user: str = "anna") -> int:
        status, answer = self.ask("POST", "/teach/login", {"user": user, "password": password})
        if status == 200:
            self.headers["x-edged-token"] = answer["token"]
        return status


@contextmanager
def teaching(folder: Path) -> Iterator[Browser]:
    """A view whose user `anna` may teach, and a browser that has not logged in."""
    (folder / "edged.yaml").write_text(CONFIG)
    (folder / "anna.password").write_text(f"{PASSWORD}\n")
    crops = PageFolder(teach_folder("box"), lambda: Taking(24, 24, "crop"))
    jobs = TeachJobs(folder / "edged.yaml", folder=crops, node="box", cameras=["door"])
    teachers = Teachers({"anna": folder / "anna.password"}, password_in)
    port = free_port()
    watcher = Watcher("tcp://127.0.0.1:1", seen=jobs.seen)
    server = view_server([watcher], bound(f"{HOST}:{port}"), teaching=(teachers, jobs))
    thread = Thread(target=server.serve_requests)
    thread.start()
    try:
        yield Browser(port, watcher)
    finally:
        server.should_exit = True
        thread.join(LIMIT_S)
        jobs.close()


def jpeg(value: int) -> bytes:
    """A gray picture of 64×48 pixels."""
    return bytes(cv2.imencode(".jpg", np.full((48, 64, 3), value, np.uint8))[1])


def see(browser: Browser, at: float, score: float, value: int = 90) -> None:
    """The view sees a snapshot of the door with its answer."""
    header = SnapshotHeader(
        node="box", boot="6f1c", camera="door", frame=int(at), captured_at=at, width=64, height=48
    )
    top = (Label(label="shut", index=0, score=score),)
    answer = msgspec.structs.replace(prediction(int(at)), captured_at=at, top=top)
    browser.watcher.add(Arrival(answer, to_json(answer)), 0.0)
    browser.watcher.add_picture(SnapshotPicture(header, jpeg(value)), 0.0)


def see_all(browser: Browser, *pictures: tuple[float, int]) -> list[int]:
    """The view sees pictures with these scores and gray values; return their numbers, the newest first."""
    for place, (score, value) in enumerate(pictures):
        see(browser, 100.0 + 10 * place, score, value)
    see(browser, 1000.0, 1.0)  # so that the last one is kept
    return [each["number"] for each in browser.ask("GET", "/teach/seen")[1]["last"]]
