"""Which workers a hub takes, of those that say which part of a network they run."""

import msgspec
import zmq

from edged.hub.frames.jobs import Assigned
from edged.hub.workers.admission import WHOLE, crossing, misfit
from edged.messages import Part, WorkerHello
from tests.hub.frames import HELLO, CameraEnd

ENDS = {"front-0": (None, "stage2"), "back-0": ("stage2", None), "big-0": WHOLE}


def hello(worker: str, part: Part | None) -> WorkerHello:
    return msgspec.structs.replace(HELLO, worker=worker, part=part)


FRONT = hello("front-0", Part(end="stage2.block4.conv3", values_out=8))
BACK = hello("back-0", Part(begin="stage2.block4.conv3", values_in=8))


def test_a_worker_runs_the_part_that_the_config_gives_it() -> None:
    for each in (FRONT, BACK, hello("big-0", None)):
        assert misfit(each.worker, each, HELLO.model, ENDS) == ""


def test_a_worker_with_another_part_is_refused_with_both() -> None:
    assert misfit("front-0", hello("front-0", Part(end="stage3.conv")), HELLO.model, ENDS) == (
        "it runs the network from the images to stage3.conv, this hub's config says from the images to stage2: "
        "give both the same file"
    )
    assert "from the images to the scores, this" in misfit("back-0", hello("back-0", None), HELLO.model, ENDS)
    assert "config says from the images to the scores" in misfit(
        "big-0", hello("big-0", BACK.part), HELLO.model, ENDS
    )


def test_who_meets_at_a_cut_must_mean_the_same_one() -> None:
    assert crossing(BACK, [FRONT, BACK], ENDS) == ""
    elsewhere = hello("back-0", Part(begin="stage2.block1.conv3", values_in=8))
    assert "it cuts the network after stage2.block1.conv3, where 8 values cross, front-0 after" in crossing(
        elsewhere, [FRONT], ENDS
    )
    larger = hello("back-0", Part(begin="stage2.block4.conv3", values_in=9))
    assert "where 9 values cross, front-0 after stage2.block4.conv3, where 8 do" in crossing(larger, [FRONT], ENDS)


def test_features_are_one_payload_of_so_many_numbers() -> None:
    frames = (CameraEnd("door").frame(), CameraEnd("yard").frame())
    job = Assigned(1, "front-0", frames, 1, 1, 0, "stage2.block4.conv3", None)
    right, short = zmq.Frame(bytes(2 * 8 * 4)), zmq.Frame(bytes(8 * 4))
    assert job.fits_features([right], 8)
    assert not job.fits_features([short], 8)
    assert not job.fits_features([short, short], 8)
    assert not job.fits_features([], 8)
