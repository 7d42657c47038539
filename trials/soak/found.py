"""What must be true of the boxes and states of a soaked detector; each function gives the complaints."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from edged.client import Prediction
from edged.messages import Box
from trials.soak.subject import THRESHOLDS

CLEAR = max(THRESHOLDS)  # boxes from here on are published after every reload
ROUNDING = 2e-3  # between devices, of scores and of corners as shares of the picture
SHOWN = 3

State = tuple[str, str, str, str]  # boot, camera, name, state


def wrong_boxes(predictions: Sequence[Prediction], expected: Mapping[str, Sequence[Box]]) -> list[str]:
    """Each prediction has boxes; of the same picture the same ones, whichever device computed it."""
    without = [each.seq for each in predictions if each.boxes is None]
    known = [(each, expected[each.truth]) for each in predictions if each.truth and each.truth in expected]
    others = [each for each, wanted in known if not _are_same(each.boxes or (), wanted)]
    missed = expected.keys() - {each.truth for each, _ in known}
    return [
        *([f"predictions without boxes: {without[:SHOWN]} ({len(without)})"] if without else []),
        *([f"other boxes than the reference: {others[:SHOWN]} ({len(others)} of {len(known)})"] if others else []),
        *([f"pictures without any prediction: {sorted(missed)}"] if missed else []),
    ]


def wrong_tracks(predictions: Sequence[Prediction]) -> list[str]:
    """No two boxes of a picture are the same object."""
    numbers = [
        (each.seq, [box.track for box in each.boxes or () if box.track is not None]) for each in predictions
    ]
    twice = [seq for seq, tracks in numbers if len({*tracks}) < len(tracks)]
    return [
        *([f"two boxes with one number: {twice[:SHOWN]} ({len(twice)})"] if twice else []),
        *([] if any(tracks for _, tracks in numbers) else ["no box has ever had a number"]),
    ]


def wrong_states(states: Sequence[State], names: Sequence[str]) -> list[str]:
    """Each of the `names` was seen to change, and never to what it was."""
    seen: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for boot, camera, name, state in states:
        seen[boot, camera, name].append(state)
    same = [key for key, each in seen.items() if any(one == other for one, other in pairwise(each))]
    still = [
        name for name in names if not any(len({*each}) > 1 for (*_, this), each in seen.items() if this == name)
    ]
    return [
        *([f"a state has changed to itself: {same[:SHOWN]} ({len(same)})"] if same else []),
        *([f"states that never changed: {still}"] if still else []),
    ]


def _are_same(found: Sequence[Box], expected: Sequence[Box]) -> bool:
    """Compare the boxes that are clear in either, in any order: equal scores have none."""
    return all(
        any(_is_same(box, other) for other in others)
        for boxes, others in ((found, expected), (expected, found))
        for box in boxes
        if box.score >= CLEAR + ROUNDING
    )


def _is_same(one: Box, other: Box) -> bool:
    return (
        one.label == other.label
        and one.score == pytest.approx(other.score, abs=ROUNDING)
        and one.box == pytest.approx(other.box, abs=ROUNDING)
    )
