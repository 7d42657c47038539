"""What `edged plan-split` prints: the places for a cut, and what is to be expected of each way."""

from collections.abc import Iterator

from edged.cli.split_costs import LinkSpeed, Unit
from edged.cli.split_report import Report
from edged.cli.split_ways import Way

MS, KB = 1e3, 1e-3


def as_text(report: Report) -> str:
    """For people."""
    return "\n".join([*_heading(report), "", *_places(report), "", *_ways(report), "", *_advice(report)])


def _heading(report: Report) -> Iterator[str]:
    model = report.model
    random = ", random weights" if model.random_weights else ""
    frames = f"{report.frames} frames" if report.frames > 1 else "1 frame"
    yield f"{model.name} {model.width}×{model.height}{random}, {frames} a job"
    for hello, ability in report.abilities():
        yield f"{hello.worker}: {hello.device}, {hello.precision}; its link: {_speed(ability.link)}"


def _speed(link: LinkSpeed) -> str:
    out, back = (f"{1e-6 / s:.0f} MB/s" if s else "at once" for s in (link.out_s_per_byte, link.back_s_per_byte))
    return f"{link.round_trip_s * MS:.2f} ms there and back, {out} there, {back} back"


def _places(report: Report) -> Iterator[str]:
    """A line for each place: the network up to it from the place before, on each unit, and a cut there."""
    ways = report.measured
    names = ["the scores" if place.after is None else place.after for place in ways.places]
    wide = max(map(len, names))
    heads = "".join(f"{unit.name[:12]:>15}" for unit in ways.units)
    yield f"{'up to':{wide}}{heads}{'crosses':>14}   a single cut there"
    for number, place in list(enumerate(ways.places))[1:]:
        stretch = "".join(f"{_stretch_s(unit, number) * MS:12.2f} ms" for unit in ways.units)
        cut = ""
        if place.after is not None:
            found = report.figures(ways.at(number))
            cut = f"{place.nbytes * KB:11.1f} kB {found.frames_per_s:8.1f} frames/s{found.latency_s * MS:9.1f} ms"
        yield f"{names[number]:{wide}}{stretch}{cut}"


def _stretch_s(unit: Unit, number: int) -> float:
    """Device time of the quickest worker."""
    each = [ability.measured.places for ability in unit.abilities]
    return min(places[number].reached_s - places[number - 1].reached_s for places in each)


def _ways(report: Report) -> Iterator[str]:
    wide = max(len(way.title) for way in report.ways)
    tried = f"{'measured':>25}{'ratio':>19}" if report.tried else ""
    yield f"{'':{wide}}{'predicted':>25}{tried}"
    for way in report.ways:
        yield f"{way.title:{wide}}{_figures(report, way)}"
        if len(way.parts) > 1:
            yield "  " + ", then ".join(part.unit + (f" to {part.end}" if part.end else "") for part in way.parts)


def _figures(report: Report, way: Way) -> str:
    expected, tried = report.figures(way.predicted), report.tried.get(way)
    text = f"{expected.frames_per_s:9.1f}/s{expected.latency_s * MS:11.1f} ms"
    if tried is None:
        return text
    came = report.figures(tried)
    ratios = came.frames_per_s / expected.frames_per_s, came.latency_s / expected.latency_s
    return f"{text}{came.frames_per_s:9.1f}/s{came.latency_s * MS:11.1f} ms{ratios[0]:10.2f}{ratios[1]:9.2f}"


def _advice(report: Report) -> Iterator[str]:
    """A split is for devices that do not hold the network, or do its parts unlike each other."""
    together, split = report.measured.unsplit[-1], report.measured.split[0]
    if together.predicted.period_s <= split.predicted.period_s:
        yield "Unsplit and side by side (all in one group, no segments), these workers answer more frames."
