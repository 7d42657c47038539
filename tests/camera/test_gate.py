"""Which frames are sent: rate, changes of the picture, and a camera that is frozen."""

import io
from collections.abc import Callable, Iterable

import av
import cv2
import numpy as np
import pytest

from edged.camera.gate import Freeze, Gate, Stillness
from edged.clock import NANOSECONDS
from edged.pictures.prepare import Pixels
from tests.camera.pictures import plain

FRAME = plain(100)


def sent_of(gate: Gate, times_s: list[float], pixels: Pixels = FRAME) -> list[float]:
    """The times of the frames that the gate lets through."""
    sent = []
    for time_s in times_s:
        at_ns = round(time_s * NANOSECONDS)
        if gate.refusal(pixels, at_ns) is None:
            gate.frame_sent(pixels, at_ns)
            sent.append(time_s)
    return sent


def noisy(seed: int, sigma: float = 10.0) -> Pixels:
    """A 640×480 scene as a sensor in poor light sees it."""
    noise = np.random.default_rng(seed).normal(0, sigma, (480, 640, 3))
    return np.clip(plain(90, 640, 480) + noise, 0, 255).astype(np.uint8)


def test_an_open_gate_lets_every_frame_through() -> None:
    times = [n / 30 for n in range(30)]

    assert sent_of(Gate(), times) == times


def test_max_fps_halves_a_camera_of_twice_the_rate_although_its_frames_jitter() -> None:
    jitter = np.random.default_rng(1).uniform(-0.004, 0.004, 900)
    times = [n / 30 + float(late) for n, late in enumerate(jitter)]

    sent = sent_of(Gate(max_fps=15), times)

    assert abs(len(sent) - 450) <= 1


def test_max_fps_is_never_exceeded_by_a_rate_that_does_not_divide() -> None:
    sent = sent_of(Gate(max_fps=20), [n / 30 for n in range(3000)])

    assert abs(len(sent) - 2000) <= 1


def test_there_is_no_burst_after_a_pause() -> None:
    gate = Gate(max_fps=10)
    sent_of(gate, [0.0, 0.1])

    assert sent_of(gate, [60.0, 60.01, 60.02, 60.1]) == [60.0, 60.1]


def test_a_frame_that_was_refused_or_not_sent_counts_for_nothing() -> None:
    gate = Gate(max_fps=10)

    assert gate.refusal(FRAME, 0) is None  # … but the link was full
    assert gate.refusal(FRAME, 1) is None


def test_sensor_noise_is_not_motion() -> None:
    gate = Gate(motion=0.005)
    gate.frame_sent(noisy(0), 0)

    assert {gate.refusal(noisy(seed), seed) for seed in range(1, 20)} == {"motion"}


def test_something_that_comes_into_the_picture_is_motion() -> None:
    gate = Gate(motion=0.01)
    gate.frame_sent(noisy(0), 0)
    scene = noisy(1)
    scene[200:280, 300:400] = 160  # 2.6 % of the picture

    assert gate.refusal(scene, 1) is None


def test_a_slow_change_is_compared_with_the_last_frame_sent() -> None:
    gate = Gate(motion=0.5)
    gate.frame_sent(plain(100), 0)

    refusals = [gate.refusal(plain(100 + step), step) for step in range(1, 20)]

    assert refusals[0] == "motion"
    assert refusals[-1] is None


def test_a_new_picture_size_is_motion() -> None:
    gate = Gate(motion=0.5)
    gate.frame_sent(plain(100, 64, 48), 0)

    assert gate.refusal(plain(100, 48, 64), 1) is None


def test_the_same_picture_is_frozen_after_so_many_seconds_and_no_more_with_the_next() -> None:
    freeze = Freeze(10)

    seen = [freeze.frozen(plain(90), second * NANOSECONDS) for second in range(12)]

    assert seen == [False] * 10 + [True] * 2
    assert not freeze.frozen(plain(91), 12 * NANOSECONDS)


def test_a_still_scene_whose_noise_moves_is_not_frozen() -> None:
    freeze, rng = Freeze(10), np.random.default_rng(1)
    for second in range(100):
        noise = rng.integers(0, 2, plain(90).shape, np.uint8)
        assert not freeze.frozen(plain(90) + noise, second * NANOSECONDS)


def test_zero_switches_it_off() -> None:
    freeze = Freeze(0)

    assert not any(freeze.frozen(plain(90), second * NANOSECONDS) for second in range(100))


FPS = 5


def streamed(pictures: Iterable[Pixels], bit_rate: int, gop: int) -> list[Pixels]:
    """What is decoded of an H.264 stream of the pictures, which repeats none of them."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        options = {"preset": "ultrafast", "tune": "zerolatency", "nal-hrd": "cbr"}
        options |= {"maxrate": str(bit_rate), "bufsize": str(bit_rate)}
        stream = output.add_stream("libx264", rate=FPS, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 640, 480, "yuv420p"
        stream.bit_rate, stream.gop_size = bit_rate, gop
        for pixels in pictures:
            output.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        output.mux(stream.encode(None))
    file.seek(0)
    with av.open(file, "r") as decoded:
        return [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8) for frame in decoded.decode(video=0)]


def room(second: float = 0.0, light: float = 1.0) -> Pixels:
    """A scene with edges and texture, with a sensor's noise of its own each second."""
    rows, columns = np.mgrid[0:480, 0:640]
    texture = 30 * np.sin(rows / 3) * np.cos(columns / 5) + 60 * ((rows // 60 + columns // 80) % 2)
    noise = np.random.default_rng(int(second * 1000)).normal(0, 3, (480, 640, 3))
    return np.asarray(np.clip((texture[..., None] + 90) * light + noise, 0, 255), np.uint8)


def still_at(pictures: Iterable[Pixels], still_s: float = 10) -> list[int]:
    """The numbers of the pictures, `FPS` a second, at which the scene counts as still."""
    stillness = Stillness(still_s)
    return [
        number for number, pixels in enumerate(pictures) if stillness.still(pixels, number * NANOSECONDS // FPS)
    ]


@pytest.mark.parametrize("bit_rate", [500_000, pytest.param(2_000_000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("gop", [FPS, 4 * FPS])
def test_a_sensor_that_hangs_behind_a_living_encoder_is_still(bit_rate: int, gop: int) -> None:
    last = room(5)
    moving = [np.roll(room(number), 9 * number, axis=1) for number in range(2 * FPS)]
    pictures = streamed([*moving, *[last] * (15 * FPS)], bit_rate, gop)
    identical = Freeze(10)

    assert not any(identical.frozen(each, number * NANOSECONDS // FPS) for number, each in enumerate(pictures))
    still = still_at(pictures)
    assert still[0] >= len(moving) + 9 * FPS
    assert still[-1] == len(pictures) - 1


def darker(number: int) -> Pixels:
    """By 2 % within 10 s."""
    return room(number, 1 - 0.02 * number / (10 * FPS))


def with_a_person(number: int) -> Pixels:
    """Walking in the distance, 10×30 pixels of 640×480."""
    picture = room(number)
    cv2.rectangle(picture, (100 + 2 * number, 300), (110 + 2 * number, 330), (90, 90, 230), cv2.FILLED)
    return picture


@pytest.mark.deep
@pytest.mark.parametrize("scene", [darker, with_a_person])
def test_a_scene_in_which_something_changes_slowly_is_not_still(scene: Callable[[int], Pixels]) -> None:
    assert not still_at(streamed(map(scene, range(20 * FPS)), 500_000, 2 * FPS))


@pytest.mark.deep
def test_a_living_sensor_before_a_still_scene_in_constant_light_is_still_too() -> None:
    assert still_at(streamed((room(number) for number in range(15 * FPS)), 500_000, 2 * FPS))


def test_a_still_scene_counts_anew_once_something_has_changed_or_the_camera_was_away() -> None:
    stillness = Stillness(10)
    times = [second * NANOSECONDS for second in range(40)]

    assert [stillness.still(plain(90), at) for at in times[:11]] == [False] * 10 + [True]
    assert not stillness.still(plain(99), times[11])
    assert not stillness.still(plain(99), times[20])
    assert stillness.still(plain(99), times[21])
    stillness.begin_again()
    assert not stillness.still(plain(99), times[22])


def test_a_stillness_of_zero_is_never_looked_for() -> None:
    assert not still_at([plain(90)] * 100, still_s=0)
