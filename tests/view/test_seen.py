"""Which snapshots are kept to be labelled."""

from dataclasses import replace

import msgspec
import pytest

from edged.messages import Label
from edged.view import seen as seen_module
from edged.view.seen import EACH, UNCERTAIN_S, SeenPictures
from tests.view.published import picture, prediction


def see(seen: SeenPictures, at: float, score: float | None, camera: str = "door", size: int = 4) -> None:
    """A snapshot arrives; `score`: of its answer, if there is one."""
    top = (Label(label="open", index=0, score=score or 0.0),)
    answer = None if score is None else msgspec.structs.replace(prediction(0), top=top)
    shot = picture(0, camera)
    header = msgspec.structs.replace(shot.header, captured_at=at)
    seen.add(replace(shot, header=header, jpeg=b"x" * size), answer)


def end_of_interval(seen: SeenPictures, *cameras: str) -> None:
    """Much later one picture more of each camera comes, which is not kept yet."""
    for camera in cameras:
        see(seen, 10_000.0, 1.0, camera)


def last(seen: SeenPictures) -> list[tuple[str, float]]:
    return [(each.camera, each.at) for each in seen.lists()[0]]


def least_certain(seen: SeenPictures) -> list[float]:
    return [each.score for each in seen.lists()[1]]


def test_of_pictures_that_follow_each_other_the_least_certain_one_is_kept() -> None:
    seen = SeenPictures()
    for at, score in ((10.0, 0.9), (10.5, 0.4), (11.0, 0.8), (13.0, 0.7)):
        see(seen, at, score)
    see(seen, 13.1, 0.6, camera="yard")
    end_of_interval(seen, "door", "yard")
    assert last(seen) == [("yard", 13.1), ("door", 13.0), ("door", 10.5)]
    assert least_certain(seen) == [0.4, 0.6, 0.7]


def test_the_last_ones_and_the_least_certain_ones_are_kept_and_no_others() -> None:
    seen = SeenPictures()
    for number in range(500):
        see(seen, 10.0 * number, 0.1 if number == 450 else 0.5 + number / 1000)
    end_of_interval(seen, "door")
    numbers = {round(at / 10) for _, at in last(seen)}
    assert numbers == set(range(500 - EACH, 500))
    assert least_certain(seen)[0] == 0.1
    assert len(least_certain(seen)) == EACH
    newest_at = max(at for _, at in last(seen))
    assert all(newest_at - each.at < UNCERTAIN_S for each in seen.lists()[1])


def test_a_picture_without_an_answer_is_none_of_the_least_certain() -> None:
    seen = SeenPictures()
    see(seen, 10.0, None)
    end_of_interval(seen, "door")
    assert last(seen) == [("door", 10.0)]
    assert least_certain(seen) == []


def test_all_of_them_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "LARGEST", 1000)
    seen = SeenPictures()
    for number in range(20):
        see(seen, 10.0 * number, 0.5, size=300)
    end_of_interval(seen, "door")
    assert last(seen) == [("door", 190.0), ("door", 180.0), ("door", 170.0)]


def test_what_is_labelled_is_forgotten() -> None:
    seen = SeenPictures()
    see(seen, 10.0, 0.5)
    see(seen, 20.0, 0.6)
    end_of_interval(seen, "door")
    (newest, oldest), _ = seen.lists()
    seen.forget([newest.number])
    assert [each.number for each in seen.chosen([newest.number, oldest.number, 99])] == [oldest.number]
