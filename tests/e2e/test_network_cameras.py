"""A real RTSP server that dies, pauses, or loses its network, under a running daemon with a second camera."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.camera.proxy import Proxy
from tests.camera.rtsp import RtspServer, skip_without_gstreamer
from tests.e2e.camera_witness import FALL_S, RECONNECTS, Witness, watched
from tests.e2e.daemon import Daemon
from tests.eventually import eventually
from tests.given_time import GivenTime

pytestmark = pytest.mark.deep

SPOILT = 300  # one bit in so many bytes: hardly a packet is left whole
DAMAGE = ("has stalled: no picture", "cannot be decoded", "its clock jumps", "lag behind")
Act = Callable[[RtspServer, Proxy], None]

FAULTS: dict[str, tuple[Act, Act]] = {
    "killed": (lambda server, _: server.kill(), lambda server, _: server.start()),
    "paused": (lambda server, _: server.stall(), lambda server, _: server.go_on()),
    "swallowed": (lambda _, proxy: proxy.swallow(), lambda _, proxy: proxy.let_through()),
}


@dataclass(frozen=True)
class Running:
    """A daemon whose camera `gate` is an RTSP server behind a proxy."""

    server: RtspServer
    proxy: Proxy
    daemon: Daemon
    witness: Witness


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The same one for one fault after another; a key frame a second."""
    skip_without_gstreamer()
    server = RtspServer(key_every=25)
    server.start()
    try:
        with Proxy(server.port) as proxy:
            gate = {"source": f"rtsp://127.0.0.1:{proxy.port}/live"}
            with watched(tmp_path_factory.mktemp("network"), gate=gate) as (daemon, witness):
                eventually(lambda: witness.of("gate"))
                yield Running(server, proxy, daemon, witness)
                assert witness.is_fresh("gate")
    finally:
        server.kill()


@pytest.mark.promise("a camera is down within 3 s, and back within 3 s of its return")
@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_down_within_3_s_and_back_within_3_s_of_its_return(running: Running, fault: str) -> None:
    (happens, passes), witness = FAULTS[fault], running.witness
    before, happened_at = witness.metric(RECONNECTS, "gate"), time.time()
    happens(running.server, running.proxy)
    given = GivenTime()
    eventually(lambda: witness.metric("edged_camera_up", "gate") == 0)
    assert given.seconds() < FALL_S
    assert f":{running.proxy.port}/…" in witness.hears("camera_down", "gate", happened_at).message

    passed_at, back = time.time(), GivenTime()
    passes(running.server, running.proxy)
    eventually(lambda: witness.of("gate", since=passed_at))
    assert back.seconds() < FALL_S
    assert witness.hears("camera_up", "gate", passed_at)
    assert witness.metric(RECONNECTS, "gate") == before + 1
    assert witness.is_undisturbed(happened_at, given)


@pytest.mark.promise("a camera is back within 3 s of the end of the damage")
def test_a_damaged_stream_is_reported_and_joined_again_and_stops_no_process(running: Running) -> None:
    daemon, witness, proxy = running.daemon, running.witness, running.proxy
    process = daemon.child("gate")
    damaged_at = time.time()
    proxy.spoil_every = SPOILT
    down = eventually(lambda: witness.events_of("camera_down", "gate", damaged_at))[0]
    proxy.spoil_every = 0
    whole_at, given = time.time(), GivenTime()
    assert any(words in down.message for words in DAMAGE), down.message
    eventually(lambda: witness.of("gate", since=whole_at))
    assert given.seconds() < FALL_S
    assert daemon.child("gate") == process
    assert not witness.events_of("camera_lost", "gate")
