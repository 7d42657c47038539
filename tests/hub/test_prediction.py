import msgspec
import pytest

from edged.hub.frames.prediction import Origin, energy_of, model_of, predict, stages
from edged.hub.frames.queues import StageResult
from edged.messages import Box, Features, FoundBox, Frame, Score, Scores
from edged.messages.published import is_right
from tests.hub.frames import HELLO, CameraEnd

MILLISECOND = 1_000_000
ORIGIN = Origin("node", "boot")
SCORES = Scores(
    job=1,
    frames=((Score(index=1, score=0.9), Score(index=0, score=0.1)), (Score(index=0, score=0.8),)),
    upload_s=0.002,
    forward_s=0.010,
    download_s=0.001,
    joules=3.0,
    rails={"GPU": 2.0, "BIG": 1.0},
)


def frame(truth: str | None = None) -> Frame:
    return msgspec.structs.replace(CameraEnd("door").frame(5 * MILLISECOND).frame, truth=truth)


def test_the_stages_after_the_capture_add_up_to_the_total() -> None:
    seconds = stages(
        frame(), [StageResult(HELLO, SCORES)], answered_ns=30 * MILLISECOND, published_ns=32 * MILLISECOND
    )
    assert seconds.total == pytest.approx(0.027)
    assert seconds.publish == pytest.approx(0.002)
    assert seconds.wait == pytest.approx(0.027 - 0.001 - 0.002 - 0.010 - 0.001 - 0.002)


def test_a_wait_is_never_negative() -> None:
    quick = msgspec.structs.replace(SCORES, forward_s=1.0)
    seconds = stages(
        frame(), [StageResult(HELLO, quick)], answered_ns=30 * MILLISECOND, published_ns=32 * MILLISECOND
    )
    assert seconds.wait == 0.0
    assert seconds.total == pytest.approx(0.001 + 0.002 + 1.0 + 0.001 + 0.002)


def test_each_frame_of_a_job_has_its_own_labels_and_its_share_of_the_joules() -> None:
    first = predict(ORIGIN, 7, frame(), 0, scores=SCORES, hello=HELLO, answered_ns=0)
    second = predict(ORIGIN, 8, frame(), 1, scores=SCORES, hello=HELLO, answered_ns=0)
    assert [label.label for label in first.top] == ["one", "zero"]
    assert [label.label for label in second.top] == ["zero"]
    assert first.energy.joules == second.energy.joules == 1.5
    assert first.energy.rails == ("GPU", "BIG")


def test_the_boxes_of_a_detector_have_the_names_of_their_classes() -> None:
    found = FoundBox(index=1, score=0.9, box=(0.1, 0.2, 0.5, 0.6))
    scores = msgspec.structs.replace(SCORES, boxes=((found,), ()))

    of_first, of_second = (
        predict(ORIGIN, 0, frame(), index, scores=scores, hello=HELLO, answered_ns=0).boxes for index in (0, 1)
    )

    assert of_first == (Box(label="one", index=1, score=0.9, box=(0.1, 0.2, 0.5, 0.6)),)
    assert of_second == ()


def test_boxes_lie_in_the_whole_picture_of_which_a_region_was_prepared() -> None:
    found = FoundBox(index=1, score=0.9, box=(0.0, 0.5, 0.5, 1.0))
    scores = msgspec.structs.replace(SCORES, boxes=((found,), ()))
    right = msgspec.structs.replace(frame(), region=(0.5, 0.0, 1.0, 0.5))

    boxes = predict(ORIGIN, 0, right, 0, scores=scores, hello=HELLO, answered_ns=0).boxes

    assert boxes is not None
    assert boxes[0].box == (0.5, 0.25, 0.75, 0.5)


def test_a_classifier_has_no_boxes() -> None:
    assert predict(ORIGIN, 0, frame(), 0, scores=SCORES, hello=HELLO, answered_ns=0).boxes is None


def test_energy_that_was_not_measured_is_null_and_says_so() -> None:
    scores = msgspec.structs.replace(SCORES, joules=None)
    energy = predict(ORIGIN, 0, frame(), 0, scores=scores, hello=HELLO, answered_ns=0).energy
    assert (energy.joules, energy.method) == (None, "none")


FRONT = StageResult(
    msgspec.structs.replace(HELLO, worker="front-0", device="Mali-T624", precision="fp16"),
    Features(job=1, upload_s=0.004, forward_s=0.020, download_s=0.003, joules=1.0, rails={"GPU": 1.0}),
)
BIG = msgspec.structs.replace(HELLO, worker="big-1", device="RTX")


def test_a_frame_of_a_split_network_names_all_who_had_it_and_adds_up_what_it_took() -> None:
    seconds = stages(
        frame(), [FRONT, StageResult(BIG, SCORES)], answered_ns=60 * MILLISECOND, published_ns=62 * MILLISECOND
    )
    assert (seconds.upload, seconds.forward, seconds.download) == pytest.approx((0.006, 0.030, 0.004))
    parts = [value for name, value in msgspec.structs.asdict(seconds).items() if name not in {"capture", "total"}]
    assert sum(parts) == pytest.approx(seconds.total)

    prediction = predict(
        Origin("node", "boot"), 0, frame(), 0, scores=SCORES, hello=BIG, answered_ns=0, before=[FRONT]
    )
    assert prediction.model.device == "Mali-T624+RTX"
    assert prediction.model.worker == "front-0+big-1"
    assert prediction.model.precision == "fp16+fp32"
    assert prediction.energy.joules == (1.0 + 3.0) / 2
    assert prediction.energy.rails == ("GPU", "BIG")


def test_what_one_of_its_devices_has_cost_nobody_knows_is_not_known_of_the_frame() -> None:
    dark = StageResult(
        msgspec.structs.replace(HELLO, energy="none"), msgspec.structs.replace(FRONT.answer, joules=None)
    )
    energy = energy_of([dark, StageResult(BIG, SCORES)], 2)
    assert (energy.joules, energy.method) == (None, "none")


def test_a_precision_that_all_devices_share_is_said_once() -> None:
    assert model_of([StageResult(HELLO, SCORES), StageResult(BIG, SCORES)]).precision == "fp32"


@pytest.mark.parametrize(("truth", "random", "right"), [
    ("one", False, True), ("zero", False, False), (None, False, None), ("one", True, None),
])  # fmt: skip
def test_right_and_wrong_where_it_means_something(truth: str | None, random: bool, right: bool | None) -> None:
    model = msgspec.structs.replace(HELLO.model, random_weights=random)
    hello = msgspec.structs.replace(HELLO, model=model)
    prediction = predict(ORIGIN, 0, frame(truth), 0, scores=SCORES, hello=hello, answered_ns=0)
    assert is_right(prediction) is right
