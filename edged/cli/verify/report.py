"""Format the comparison of `edged verify`: a table, one JSON object, or a page (`--html`).

The page has the verdict, a chart of errors, the pictures with their answers and all layers; it loads nothing else.
"""

import argparse
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from html import escape
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.drawing.chart import COLORS, Chart, LinearAxis, LogAxis
from edged.engine.verifying import Verification, VerifiedLayer
from edged.evaluation.onnxruntime_scores import OtherScores
from edged.model.package import Model
from edged.system.plain_text import aligned

HEAD = ("layer", "kind", "variant", "range", "error", "with earlier ones", "")
NOT_FINITE = (-1,)  # in place of classes
TEXTS = 3  # columns that are aligned to the left

LEAST = 1e-9  # errors below it are drawn at the lower edge
MOST = 1.0
QUALITY = 90  # of JPEGs, in percent
STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem }
h1 { border-left: .5rem solid #009E73; padding-left: .75rem; font-size: 1.3rem }
h1.wrong { border-color: #D55E00 }
svg { max-width: 100%; height: auto }
ul { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0 }
li { width: 12rem; font-size: .85rem }
img { width: 100%; image-rendering: pixelated }
table { border-collapse: collapse; font-size: .85rem }
th, td { padding: .15rem .6rem; text-align: left }
td:nth-child(n+4), th:nth-child(n+4) { text-align: right; font-variant-numeric: tabular-nums }
tr.wrong { background: #D55E0044 }
.scroll { overflow-x: auto }
"""


class VerifyReport:
    """The errors of all layers. `scores`: outputs of the device, [n, values]; `other`: of onnxruntime, for a file.

    The answer to a picture is the first class of a classifier, or the labels of a detector's boxes.
    """

    def __init__(
        self,
        model: Model,
        arguments: argparse.Namespace,
        verification: Verification,
        scores: NDArray[np.float32],
        other: OtherScores | None,
    ) -> None:
        self._model, self._arguments, self._verification, self._other = model, arguments, verification, other
        self.scores, self.expected = scores, verification.expected
        self.layers, self.limit = verification.layers, verification.layer_limit
        self._same = self._count_same(self.expected)
        self._other_error, self._other_agrees = 0.0, 0
        if other and other.scores is not None:
            self._other_error = verification.outputs_error(scores, other.scores)
            self._other_agrees = self._count_same(other.scores)

    @property
    def is_trusted(self) -> bool:
        """Return whether the device agrees with the reference."""
        return self._verification.is_trusted

    def answers(self, picture: int) -> Iterator[tuple[str, str]]:
        """Yield who computed a picture, with the label of the first class."""
        yield self._verification.device_name, self._label(self.scores[picture])
        yield "reference", self._label(self.expected[picture])
        if self._other and self._other.scores is not None:
            yield "onnxruntime", self._label(self._other.scores[picture])

    def _count_same(self, others: Iterable[NDArray[Any]]) -> int:
        """Return how many pictures have the same answer by these outputs."""
        pairs = zip(self.scores, others, strict=True)
        return sum(self._answer(one) == self._answer(other) != NOT_FINITE for one, other in pairs)

    def _answer(self, outputs: NDArray[Any]) -> tuple[int, ...]:
        """Return the indices of the classes of an answer, the best first."""
        if not np.isfinite(outputs).all():
            return NOT_FINITE
        if self._model.detector is None:
            return (int(outputs.argmax()),)
        found = self._model.detector.candidates(outputs.astype(np.float32))
        return tuple(sorted(map(int, self._model.detector.without_overlaps(found).classes)))

    def _label(self, outputs: NDArray[Any]) -> str:
        answer = self._answer(outputs)
        if answer == NOT_FINITE:
            return "not finite"
        return ", ".join(self._model.labels[index] for index in answer) or "no box"

    @property
    def _same_key(self) -> str:
        return "same_labels" if self._model.detector else "same_class"

    @property
    def _what(self) -> str:
        return "outputs" if self._model.detector else "scores"

    @property
    def _same_what(self) -> str:
        return "labels of boxes" if self._model.detector else "first class"

    def as_text(self) -> str:
        """Return the table of layers, the errors of the scores, and the verdict."""
        return "\n".join([self.title(), "", table(self.layers), "", *self.lines()])

    def error(self, picture: int) -> float:
        """Return the error of the outputs of a picture, as a share of their range."""
        pair = (each[picture][np.newaxis] for each in (self.scores, self.expected))
        return self._verification.outputs_error(*pair)

    def title(self) -> str:
        """Return what was compared, in two lines."""
        done, given = self._verification, self._arguments
        source = f"pictures of {given.images}" if given.images else "random images"
        what = f"{self._model.name}, {given.precision}, batch {given.batch}, on {done.device_name}"
        return f"{what}\nerrors as shares of each layer's range, against float64, on {done.pictures} {source}"

    def lines(self) -> Iterator[str]:
        """Yield the errors of the scores, then the verdict."""
        done = self._verification
        yield (
            f"{self._what} within {_share(done.scores_error)} of their range of the reference (limit "
            f"{done.scores_limit:g}); the same {self._same_what} for {self._same} of {done.pictures}"
        )
        if self._other and self._other.scores is None:
            yield f"not compared with onnxruntime: {self._other.problem}"
        elif self._other:
            yield (
                f"{self._what} within {_share(self._other_error)} of those of onnxruntime {self._other.version}; "
                f"the same {self._same_what} for {self._other_agrees} of {done.pictures}"
            )
        yield self._verdict()

    def _verdict(self) -> str:
        done, name = self._verification, self._model.name
        if done.is_trusted:
            return f"{done.device_name} may be trusted with {name}"
        refused = f"{done.device_name} must not be trusted with {name}"
        if wrong := done.first_wrong:
            return (
                f"{refused}: the error begins at {wrong.layer} ({wrong.variant}), {_share(wrong.own)} of its range"
            )
        return f"{refused}: each layer is right, but their rounding adds up; compare its answers by `edged eval`"

    def as_object(self) -> dict[str, Any]:
        """Return the comparison for JSON, which has no infinity: null for values that are not finite."""
        done, other = self._verification, self._other
        return {
            "model": {"name": self._model.name, "sha256": self._model.sha256},
            "device": done.device_name,
            "precision": self._arguments.precision,
            "batch": self._arguments.batch,
            "images": self._arguments.images and str(self._arguments.images),
            "pictures": done.pictures,
            "trusted": done.is_trusted,
            "begins": done.first_wrong and done.first_wrong.layer,
            "scores": {
                "error": _number(done.scores_error),
                "limit": done.scores_limit,
                self._same_key: self._same,
            },
            "onnxruntime": other and self._other_as_object(other),
            "layers": [_as_object(layer) for layer in self.layers],
        }

    def _other_as_object(self, other: OtherScores) -> dict[str, Any]:
        if other.scores is None:
            return {"version": other.version, "problem": other.problem}
        error = _number(self._other_error)
        return {"version": other.version, "error": error, self._same_key: self._other_agrees}


def table(layers: tuple[VerifiedLayer, ...]) -> str:
    """Format a line for each layer; `<- wrong` marks those that disagree."""
    rows = [HEAD, *map(row_of, layers)]
    return "\n".join(aligned(rows, TEXTS))


def row_of(layer: VerifiedLayer) -> tuple[str, ...]:
    """Return the texts of a layer, in the order of `HEAD`."""
    own = _share(layer.own) if layer.compared else "–"
    mark = "" if layer.is_right else "<- wrong"
    return layer.layer, layer.kind, layer.variant, f"{layer.largest:.4g}", own, _share(layer.total), mark


def _share(share: float) -> str:
    return f"{share:.1e}" if np.isfinite(share) else "not finite"


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _as_object(layer: VerifiedLayer) -> dict[str, Any]:
    numbers = {key: _number(getattr(layer, key)) for key in ("largest", "own", "total")}
    return asdict(layer) | numbers


def page(report: VerifyReport, images: NDArray[np.uint8]) -> str:
    """Return the page for the compared `images`, uint8 RGB [n, height, width, 3]."""
    title, *facts = report.title().splitlines()
    *lines, verdict = report.lines()
    kind = "" if report.is_trusted else ' class="wrong"'
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
            f"<h1{kind}>{escape(verdict)}</h1><p>{escape(title)}</p>",
            *(f"<p>{escape(line)}</p>" for line in (*facts, *lines)),
            f"<h2>Errors</h2>{chart(report)}",
            f"<h2>Pictures, as the network gets them</h2><ul>{''.join(_pictures(report, images))}</ul>",
            f'<h2>Layers</h2><div class="scroll">{_table(report.layers)}</div>',
            "</body></html>\n",
        ]
    )


def chart(report: VerifyReport) -> str:
    """Draw both errors of each layer, by its place in the network."""
    layers = report.layers
    x = LinearAxis("layer", -1, len(layers), least_step=1)
    drawing = Chart("Error of each layer", "as a share of its range", x, LogAxis("error ÷ range", LEAST, MOST))
    drawing.line([(-1, report.limit), (len(layers), report.limit)], dashed=True)
    for index, layer in enumerate(layers):
        for error, color in ((layer.total, COLORS[1]), (layer.own, COLORS[0])):
            point = index, float(np.clip(error, LEAST, MOST))
            drawing.dot(point, color, f"{layer.layer}\n{layer.kind}, {layer.variant}: {error:.1e}")
    for index, layer in enumerate(layers):
        if not layer.is_right:
            drawing.label((index, float(np.clip(layer.own, LEAST, MOST))), layer.layer)
    colors = {"for the inputs that the device computed": COLORS[0], "with the layers before": COLORS[1]}
    drawing.legend(colors, "dashed: the limit of a layer's own error")
    return drawing.svg()


def _pictures(report: VerifyReport, images: NDArray[np.uint8]) -> Iterator[str]:
    """Yield a picture with the first classes of the device, the reference and onnxruntime."""
    for index, image in enumerate(images):
        answers = [f"<br>{who}: {escape(label)}" for who, label in report.answers(index)]
        error = report.error(index)
        _, jpeg = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        url = f"data:image/jpeg;base64,{b64encode(jpeg.tobytes()).decode()}"  # RFC 2397
        yield f'<li><img alt="" src="{url}">{index + 1}{"".join(answers)}<br>error {error:.1e}</li>'


def _table(layers: tuple[VerifiedLayer, ...]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    rows = "".join(_table_row(layer) for layer in layers)
    return f"<table><tr>{head}</tr>{rows}</table>"


def _table_row(layer: VerifiedLayer) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in row_of(layer))
    return f"<tr>{cells}</tr>" if layer.is_right else f'<tr class="wrong">{cells}</tr>'
