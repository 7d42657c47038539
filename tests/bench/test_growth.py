"""What surrounds the figures of `growth`: the fit, the file of points, the bound on memory."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.growth import Point, fit, live_bytes, picture, read_points, verdict
from edged.engine.launch import Images, Launch
from edged.engine.layout import Tensor
from edged.engine.memory import arrange, lifetimes
from edged.engine.planner import Plan

POINT = Point(18, 64, 1, 1000, 1.0, 0.5, 0.25, arena_bytes=100, live_bytes=100)
STRAIGHT = [
    replace(POINT, depth=depth, macs=macs, seconds=macs / 100) for depth, macs in ((18, 100), (50, 10_000))
]


def test_points_on_a_line_fit_exactly_and_none_is_off_it() -> None:
    fitted = fit([*STRAIGHT, replace(POINT, macs=1000, seconds=10)])

    assert (fitted.slope, fitted.r2) == pytest.approx((1, 1))
    assert fitted.seconds(500) == pytest.approx(5)
    assert not [line for line in verdict(STRAIGHT, fitted) if line.startswith("off")]


def test_a_slow_point_is_named() -> None:
    slow = replace(POINT, size=99, macs=1000, seconds=20)

    (line,) = [line for line in verdict([*STRAIGHT, slow], fit(STRAIGHT)) if line.startswith("off")]

    assert "resnet18 99×99 batch 1 takes 2.00 of what the fit says" in line
    assert "resnet18 99×99 batch 1" in picture([*STRAIGHT, slow], fit(STRAIGHT), "device")


def test_points_are_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    file = tmp_path / "points.jsonl"
    assert read_points(file) == []

    file.write_text("".join(json.dumps(asdict(point)) + "\n" for point in STRAIGHT))

    assert read_points(file) == STRAIGHT


def test_what_must_live_at_once_is_the_most_that_a_launch_and_its_later_readers_need() -> None:
    a, b, c = (Tensor(name, 1, channels, 1, 1, block=1) for name, channels in (("a", 10), ("b", 20), ("c", 5)))
    launches = tuple(
        Launch("kernel", "operator", {}, tensors, items=1) for tensors in ((a,), (a, b), (b, c), (c, a))
    )
    plan = Plan(Images(1, 1, 1), launches, a, arrange(lifetimes(launches), alignment=4))

    assert live_bytes(plan) == 4 * (10 + 20 + 5)
