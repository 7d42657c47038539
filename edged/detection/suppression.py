"""Suppress boxes that overlap with a better one, by OpenCV."""

import cv2
import numpy as np

from edged.detection.candidates import Candidates, Indices
from edged.messages.detection import Across


def suppressed(candidates: Candidates, overlap: float, across: Across, most: int) -> Candidates:
    """Return the best `most` candidates, best first, without those that overlap with a better one.

    overlap: the largest accepted intersection over union. across: `label` compares boxes of one class alone, `all`
    those of every class. Of equal scores the earlier candidate is the better one.
    """
    if not len(candidates):
        return candidates
    kept = _kept(candidates, overlap, across)
    order = np.argsort(-candidates.scores[kept], kind="stable")
    return candidates.chosen(kept[order[:most]])


def _kept(candidates: Candidates, overlap: float, across: Across) -> Indices:
    """Return the places of those that stay, in their order."""
    boxes = candidates.boxes.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]  # OpenCV takes widths and heights
    scores = candidates.scores
    if across == "all":
        kept = cv2.dnn.NMSBoxes(boxes, scores, 0.0, overlap)  # type: ignore[arg-type]
    else:
        kept = cv2.dnn.NMSBoxesBatched(boxes, scores, candidates.classes, 0.0, overlap)  # type: ignore[arg-type]
    return np.sort(np.asarray(kept, np.intp))
