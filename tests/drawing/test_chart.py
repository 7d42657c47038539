"""Charts with logarithmic and linear axes."""

from xml.etree import ElementTree

import pytest

from edged.drawing.chart import Chart, LinearAxis, LogAxis

SVG = "{http://www.w3.org/2000/svg}"


def chart() -> Chart:
    return Chart("title", "subtitle", LogAxis("x", 1, 100), LogAxis("y", 1, 10_000))


def elements(drawn: Chart, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn.svg()).iter(SVG + tag))  # noqa: S314 (our own text)


def test_a_value_lies_on_its_axis_by_its_logarithm() -> None:
    axis = LogAxis("x", 1, 100)

    assert [axis.share(value) for value in (1, 10, 100)] == [0, 0.5, 1]


def test_a_short_axis_says_more_of_its_ticks() -> None:
    def written(axis: LogAxis) -> list[float]:
        return [value for value, is_written in axis.ticks() if is_written]

    assert written(LogAxis("x", 1.5, 60)) == [2, 5, 10, 20, 50]
    assert written(LogAxis("x", 1, 100_000)) == [1, 10, 100, 1_000, 10_000, 100_000]


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (LinearAxis("%", 91.3, 100), [92, 94, 96, 98, 100]),
        (LinearAxis("loss", 0, 2.3), [0, 0.5, 1, 1.5, 2]),
        (LinearAxis("epoch", 1, 3, least_step=1), [1, 2, 3]),
        (LinearAxis("epoch", 1, 2, least_step=1), [1, 2]),
        (LinearAxis("epoch", 1, 40, least_step=1), [10, 20, 30, 40]),
    ],
)
def test_a_linear_axis_has_round_ticks(axis: LinearAxis, ticks: list[float]) -> None:
    assert [value for value, _ in axis.ticks()] == pytest.approx(ticks)
    assert axis.share(axis.low) == 0
    assert axis.share(axis.high) == 1


def test_a_dot_shows_its_tooltip_whatever_characters_are_in_it() -> None:
    drawn = chart()

    drawn.dot((10, 10), "red", 'conv<1> & "pool"')

    (dot,) = elements(drawn, "circle")
    assert dot.findtext(SVG + "title") == 'conv<1> & "pool"'


def test_labels_keep_apart_and_one_without_room_is_left_out() -> None:
    drawn = chart()
    drawn.dot((10, 100), "red", "a dot")

    for number in range(100):
        drawn.label((10, 100), f"label {number}")

    labels = [text for text in elements(drawn, "text") if (text.text or "").startswith("label")]
    places = [(float(text.attrib["x"]), float(text.attrib["y"])) for text in labels]
    assert 1 < len(labels) < 100
    assert all(
        abs(x - other_x) > 40 or abs(y - other_y) > 12
        for index, (x, y) in enumerate(places)
        for other_x, other_y in places[:index]
    )
