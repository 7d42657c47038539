"""The page of `edged verify --html`: verdict, a chart of errors, the pictures with their answers, all layers.

One file that loads nothing else.
"""

from base64 import b64encode
from collections.abc import Iterator
from html import escape

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.cli.verify.report import HEAD, VerifyReport, row_of
from edged.drawing.chart import COLORS, Chart, LinearAxis, LogAxis
from edged.engine.operator_error import share_of_range
from edged.engine.verifying import VerifiedLayer

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
    for place, layer in enumerate(layers):
        for error, color in ((layer.total, COLORS[1]), (layer.own, COLORS[0])):
            point = place, float(np.clip(error, LEAST, MOST))
            drawing.dot(point, color, f"{layer.layer}\n{layer.kind}, {layer.variant}: {error:.1e}")
    for place, layer in enumerate(layers):
        if not layer.is_right:
            drawing.label((place, float(np.clip(layer.own, LEAST, MOST))), layer.layer)
    colors = {"for the inputs that the device computed": COLORS[0], "with the layers before": COLORS[1]}
    drawing.legend(colors, "dashed: the limit of a layer's own error")
    return drawing.svg()


def _pictures(report: VerifyReport, images: NDArray[np.uint8]) -> Iterator[str]:
    """Yield a picture with the first classes of the device, the reference and onnxruntime."""
    for place, image in enumerate(images):
        answers = [f"<br>{who}: {escape(label)}" for who, label in report.answers(place)]
        error = share_of_range(report.scores[place], report.expected[place])
        yield f'<li><img alt="" src="{_inline(image)}">{place + 1}{"".join(answers)}<br>error {error:.1e}</li>'


def _inline(image: NDArray[np.uint8]) -> str:
    """Return a JPEG as a data URL (RFC 2397)."""
    _, content = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return f"data:image/jpeg;base64,{b64encode(content.tobytes()).decode()}"


def _table(layers: tuple[VerifiedLayer, ...]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    rows = "".join(_table_row(layer) for layer in layers)
    return f"<table><tr>{head}</tr>{rows}</table>"


def _table_row(layer: VerifiedLayer) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in row_of(layer))
    return f"<tr>{cells}</tr>" if layer.is_right else f'<tr class="wrong">{cells}</tr>'
