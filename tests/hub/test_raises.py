"""Every `raise` in the hub, and why none of them ends a daemon that is ready.

What concerns one camera, worker, model, key or file is an event, not the end. A new `raise` is added here with
the place that catches it; `test_survival` provokes such failures in a running hub.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

HUB = Path(__file__).resolve().parents[2] / "edged/hub"

START = "before the hub is ready: while it opens what it needs"
NEVER_READY = "only as long as no worker has ever been ready"
JOURNAL = (
    "in a thread of the journal, which goes on without it, or in the service `replay`, which answers ReplayFailure"
)
SERVICE = "in a service thread: `service_failed`, and it is started again"

REASONS = {
    "journal/file": JOURNAL,
    "journal/journal Journal.__init__": START,
    "journal/placement": JOURNAL,
    "journal/reader": JOURNAL,
    "journal/schema": JOURNAL,
    "journal/store": JOURNAL,
    "links/connection": "Endpoint._accepted: it is closed already",
    "links/peers open_links": START,
    "links/runtime_folder": "at the start, and RuntimeFiles.restore: logged, and tried again each second",
    "links/sockets bind": START,
    "links/sockets _bind_private": START,
    "links/zmq_link ZmqLink.send": "a wrong use of a socket, never a peer: one that left or is full is False",
    "publish/notifier Notifier._deliver": "in the notifier's thread: counted, and tried again",
    "publish/notifier Receiver.__init__": "at the start, and Reload._read: the reload is refused",
    "publish/notifier Receiver.deliver": "in the notifier's thread: counted, and tried again",
    "publish/replay Replay._send": SERVICE,
    "stats/metrics_server Bounded.readline": "in the thread of one scrape, whose connection is closed",
    "stats/targets asked_address": "in the thread of one request, which is answered with 400",
    "teaching/promotion": "Versions.step and Teaching._prepare: the request is refused",
    "wiring Endpoints._serve_metrics": START,
    "workers/failover GroupChoice._lost": NEVER_READY,
    "workers/heads Heads._promoted": "Heads.begin: `model_refused`, and the model of the config answers",
}


def raising(tree: ast.AST, inside: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the function of each `raise`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from raising(node, (*inside, node.name))
            continue
        if isinstance(node, ast.Raise):
            yield ".".join(inside)
        yield from raising(node, inside)


def test_each_raise_in_the_hub_has_a_reason_why_it_does_not_end_a_daemon_that_is_ready() -> None:
    found = {
        f"{path.relative_to(HUB).with_suffix('').as_posix()} {function}"
        for path in HUB.rglob("*.py")
        for function in raising(ast.parse(path.read_text("utf-8")))
    }
    without = {place for place in found if not any(place.startswith(known) for known in REASONS)}
    gone = {known for known in REASONS if not any(place.startswith(known) for place in found)}
    assert (without, gone) == (set(), set())
