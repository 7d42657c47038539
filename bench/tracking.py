"""How well and how fast numbers follow objects, beside the package `trackers`: `python -m bench.tracking`.

On scenes of `tests.tracking.scene` an identity switch is an object whose number is not the one that it had before.
`trackers` (Apache-2.0) comes with SciPy, OpenCV and Matplotlib: install it beside edged to have its rows.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from edged.cli.options import positive
from edged.tracking.tracker import Tracker
from tests.tracking.scene import CLEAR, SceneFrame, crossing

Numbers = Sequence[int | None]
FollowFrame = Callable[[SceneFrame], Numbers]  # the numbers of a frame's clear boxes
CASES = ((5, 0.0), (10, 0.0), (20, 0.0), (5, 0.1), (10, 0.1), (20, 0.1))  # objects, share of frames before a gap
FIRST_SEED = 1000  # of scenes; the tracker's settings were chosen on others: 0 to 7 and 100 to 115
CAMERA_FPS = 30
PIXELS = 1000  # of a scene's side, for a peer that reckons in pixels


@dataclass
class FollowedScenes:
    """What became of the objects of several scenes."""

    switches: int = 0
    objects: int = 0
    numbers: int = 0
    boxes: int = 0
    numbered: int = 0
    times_s: list[float] = field(default_factory=list)

    def follow(self, scene: Iterator[SceneFrame], numbers_of: FollowFrame) -> None:
        """Add a scene."""
        last: dict[int, int] = {}
        used: set[int] = set()
        for frame in scene:
            start = time.perf_counter()
            numbers = numbers_of(frame)
            self.times_s.append(time.perf_counter() - start)
            for sighting, number in zip(frame.clear, numbers, strict=True):
                if sighting.of is None:
                    continue
                self.boxes += 1
                if number is not None:
                    self.numbered += 1
                    self.switches += last.get(sighting.of, number) != number
                    last[sighting.of] = number
                    used.add(number)
        self.objects += len(last)
        self.numbers += len(used)

    def __str__(self) -> str:
        self.times_s.sort()
        p99_s = self.times_s[int(0.99 * len(self.times_s))]
        return (
            f"{self.switches:9} {self.numbers / self.objects:8.2f} {self.numbered / self.boxes:9.1%}"
            f" {1e6 * median(self.times_s):9.0f} {1e6 * p99_s:9.0f}"
        )


def ours() -> FollowFrame:
    """Return edged's tracker."""
    tracker = Tracker()
    return lambda frame: tracker.numbers(
        frame.frame,
        frame.captured_ns,
        [each.found for each in frame.clear],
        [each.found for each in frame.faint],
    )


def theirs() -> FollowFrame:
    """Return ByteTrack of `trackers`, which is given the time of each frame. Raises ImportError without it."""
    import numpy as np
    from supervision import Detections  # type: ignore[import-not-found]
    from trackers import ByteTrackTracker  # type: ignore[import-not-found]

    tracker = ByteTrackTracker(
        track_activation_threshold=CLEAR, high_conf_det_threshold=CLEAR, minimum_iou_threshold=0.2
    )

    def numbers_of(frame: SceneFrame) -> Numbers:
        found = [each.found for each in (*frame.clear, *frame.faint)]
        given = Detections.empty()
        if found:
            given = Detections(
                xyxy=PIXELS * np.array([each.box for each in found]),
                confidence=np.array([each.score for each in found]),
                data={"place": np.arange(len(found))},
            )
        tracked = tracker.update(given, timestamp=frame.frame / CAMERA_FPS)
        places = tracked.data.get("place", ())
        numbers = {int(place): int(number) for place, number in zip(places, tracked.tracker_id, strict=True)}
        return [number if (number := numbers.get(place, -1)) >= 0 else None for place in range(len(frame.clear))]

    return numbers_of


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=positive, default=10, help="of each case (default: 10)")
    parser.add_argument("--frames", type=positive, default=600, help="of each scene (default: 600)")
    arguments = parser.parse_args()
    contenders = {"edged": ours, "trackers": theirs}
    print("objects  gaps            switches  numbers  numbered  median µs    p99 µs")
    for objects, gaps in CASES:
        for name, new in contenders.items():
            followed = FollowedScenes()
            try:
                for seed in range(FIRST_SEED, FIRST_SEED + arguments.scenes):
                    scene = crossing(seed, objects=objects, frames=arguments.frames, gaps=gaps)
                    followed.follow(scene, new())
            except ImportError as error:
                print(f"{objects:7} {gaps:5.0%}  {name:9} not installed: {error.name}")
            else:
                print(f"{objects:7} {gaps:5.0%}  {name:9}{followed}")


if __name__ == "__main__":
    main()
