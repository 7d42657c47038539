"""Which frames are sent: rate, changes of the picture, and a camera that is frozen."""

import numpy as np

from edged.camera.gate import Freeze, Gate
from edged.camera.sources.source import Pixels
from edged.clock import NANOSECONDS
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
