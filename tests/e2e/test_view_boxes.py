"""Boxes of a detector on the page, over the picture of their own frame."""

from contextlib import ExitStack
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.e2e.browser import Show, browser_page, when
from tests.model.detectors import detector_file

# Text, and left, top, right, bottom as shares of the picture on the screen.
SHOWN = """
(() => {
  const picture = document.querySelector('.shot img').getBoundingClientRect()
  return [...document.querySelectorAll('.shot .box')].map((box) => {
    const at = box.getBoundingClientRect()
    return [box.textContent, (at.left - picture.left) / picture.width, (at.top - picture.top) / picture.height,
            (at.right - picture.left) / picture.width, (at.bottom - picture.top) / picture.height]
  })
})()
"""


@pytest.mark.deep
def test_boxes_lie_where_they_were_found(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    pixels = np.random.default_rng(3).integers(0, 256, (180, 320, 3)).astype(np.uint8)
    assert cv2.imwrite(str(tmp_path / "pictures/a.png"), pixels)
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    model = {"path": str(detector_file(tmp_path / "net.onnx", "yolox")), "labels": str(tmp_path / "labels.txt")}
    camera = {
        "source": str(tmp_path / "pictures"),
        "at_end": "loop",
        "fps": 5,
        "roi": [0.5, 0, 1, 1],
        "snapshot": {},
    }

    with ExitStack() as resources, browser_page() as page:
        show = Show(tmp_path, resources, cameras={"door": camera}, model={**model, "threshold": 0.3})
        page.goto(show.url)
        when(page, "document.querySelector('.shot .box')?.getBoundingClientRect().width > 0")
        shown, words = page.evaluate(SHOWN), page.text_content(".shot .label")
        (prediction,) = show.daemon.first(1)  # of the same picture again

    assert prediction.boxes
    expected = [
        (f"{each.label} {100 * each.score:.0f} %", [2 * left - 1, top, 2 * right - 1, bottom])
        for each in prediction.boxes
        for left, top, right, bottom in [each.box]
    ]
    assert [text for text, *_ in shown] == [text for text, _ in expected]
    for (_, *found), (_, box) in zip(shown, expected, strict=True):
        assert found == pytest.approx(box, abs=0.02)
    assert words
    assert all(box.label in words for box in prediction.boxes)
