"""Loss and accuracy of a training by epoch, as charts."""

from collections.abc import Mapping, Sequence
from statistics import median

from edged.drawing.chart import COLORS, Chart, LinearAxis
from edged.train.results import Epoch

FAR = 4  # times the median: a loss beyond it is cut off
MOST_DOTS = 60

Lines = Mapping[str, Sequence[float]]  # a value of each epoch, by the pictures that it is of


def loss_chart(history: Sequence[Epoch]) -> str:
    """Draw the loss by epoch as SVG. One far beyond the others is cut off at the top."""
    lines = _lines([one.loss for one in history], [one.validation_loss for one in history])
    every = [value for line in lines.values() for value in line]
    top = min(max(every), FAR * median(every)) or 1.0
    return _draw("Loss", LinearAxis("mean cross-entropy", 0.0, top), lines)


def accuracy_chart(history: Sequence[Epoch]) -> str:
    """Draw the share of right answers by epoch as SVG."""
    lines = _lines(
        [100 * one.accuracy for one in history],
        [one.validation_accuracy and 100 * one.validation_accuracy for one in history],
    )
    low = min(99.0, *(value for line in lines.values() for value in line))
    return _draw("Right answers", LinearAxis("%", low, 100.0), lines)


def _lines(learnt: Sequence[float], held_out: Sequence[float | None]) -> Lines:
    known = [value for value in held_out if value is not None]
    return {"learnt from": learnt, **({"held out": known} if known else {})}


def _draw(title: str, y: LinearAxis, lines: Lines) -> str:
    epochs = max(map(len, lines.values()))
    chart = Chart(title, "", LinearAxis("epoch", 1, max(epochs, 2), least_step=1), y)
    legend = {}
    for (name, values), color in zip(lines.items(), COLORS, strict=False):
        points = [(epoch, min(value, y.high)) for epoch, value in enumerate(values, 1)]
        chart.line(points, color)
        for (epoch, height), value in zip(points, values, strict=True):
            if epochs <= MOST_DOTS or epoch == epochs:
                chart.dot((epoch, height), color, f"{name}, epoch {epoch}: {value:.4g}")
        legend[f"{name}: {values[-1]:.4g}"] = color
    chart.legend(legend)
    return chart.svg()
