"""A scene with objects that cross and hide each other, as a detector finds them: with noise and low scores."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from edged.messages.detection import Corners, FoundBox
from edged.tracking.association import overlap

NS = 33_000_000  # between two frames
NOISE = 0.03  # standard deviation of an edge, as a share of the box's side
MISSED = 0.04  # share of boxes that the detector misses
WRONG = 0.1  # boxes a frame where nothing is
CLEAR, FAINT = 0.5, 0.1  # least scores


@dataclass
class Mover:
    """An object: where its lower edge is, its size, and its speed by a frame. The lower ones are in front."""

    x: float
    bottom: float
    width: float
    height: float
    across: float
    down: float

    def move(self) -> None:
        """Move by a frame, and turn at the border."""
        self.x += self.across
        self.bottom += self.down
        if not 0.05 < self.x < 0.95:
            self.across = -self.across
        if not 0.35 < self.bottom < 0.98:
            self.down = -self.down

    @property
    def box(self) -> Corners:
        return self.x - self.width / 2, self.bottom - self.height, self.x + self.width / 2, self.bottom


@dataclass(frozen=True)
class Sighting:
    """A box that a detector finds, and the index of its object; None: there is none."""

    found: FoundBox
    of: int | None


@dataclass(frozen=True)
class SceneFrame:
    """What a detector finds in a frame: clear boxes and faint ones. Frames may be left out in between."""

    frame: int
    captured_ns: int
    clear: tuple[Sighting, ...]
    faint: tuple[Sighting, ...]


def crossing(seed: int, *, objects: int, frames: int, gaps: float = 0.0) -> Iterator[SceneFrame]:
    """Yield what is found in so many frames; `gaps`: share of those that one to eight dropped ones follow."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    movers = [_mover(chance) for _ in range(objects)]
    dropped = 0
    for frame in range(frames):
        for mover in movers:
            mover.move()
        if dropped:
            dropped -= 1
            continue
        if chance.random() < gaps:
            dropped = chance.randint(1, 8)
        yield _seen(chance, frame, movers)


def _mover(chance: random.Random) -> Mover:
    height = chance.uniform(0.15, 0.3)
    return Mover(
        x=chance.uniform(0.1, 0.9),
        bottom=chance.uniform(0.4, 0.95),
        width=height * chance.uniform(0.35, 0.6),
        height=height,
        across=chance.choice((-1, 1)) * chance.uniform(0.002, 0.008),
        down=chance.uniform(-0.001, 0.001),
    )


def _seen(chance: random.Random, frame: int, movers: list[Mover]) -> SceneFrame:
    sightings = [sighting for which in range(len(movers)) if (sighting := _sighting(chance, movers, which))]
    if chance.random() < WRONG:
        box = _noisy(chance, _mover(chance).box)
        sightings.append(Sighting(FoundBox(index=0, score=chance.uniform(FAINT, 0.7), box=box), None))
    sightings.sort(key=lambda each: -each.found.score)
    clear = tuple(each for each in sightings if each.found.score >= CLEAR)
    faint = tuple(each for each in sightings if FAINT <= each.found.score < CLEAR)
    return SceneFrame(frame, frame * NS, clear, faint)


def _sighting(chance: random.Random, movers: list[Mover], which: int) -> Sighting | None:
    """Return the box of an object; None for one that is hidden, or that the detector misses."""
    mover = movers[which]
    hidden = max((_covered(mover.box, other.box) for other in movers if other.bottom > mover.bottom), default=0.0)
    if hidden > 0.8 or chance.random() < MISSED:
        return None
    score = chance.uniform(0.75, 0.95) * (1 - 0.7 * hidden)
    return Sighting(FoundBox(index=0, score=score, box=_noisy(chance, mover.box)), which)


def _covered(box: Corners, front: Corners) -> float:
    """Return the share of a box that another one hides."""
    shared = overlap(box, front)
    area, front_area = ((each[2] - each[0]) * (each[3] - each[1]) for each in (box, front))
    return shared * (area + front_area) / (1 + shared) / area


def _noisy(chance: random.Random, box: Corners) -> Corners:
    left, top, right, bottom = box
    across, down = NOISE * (right - left), NOISE * (bottom - top)
    return (
        chance.gauss(left, across),
        chance.gauss(top, down),
        chance.gauss(right, across),
        chance.gauss(bottom, down),
    )
