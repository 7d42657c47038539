"""The few shapes that the expressions of the dashboards have."""

NODE = 'node=~"$node"'
CAMERA = f'{NODE},camera=~"$camera"'


def of_node(metric: str, *matchers: str) -> str:
    """The series of the boards that are chosen."""
    return f"{metric}{{{','.join((NODE, *matchers))}}}"


def of_camera(metric: str, *matchers: str) -> str:
    """The series of the cameras that are chosen."""
    return f"{metric}{{{','.join((CAMERA, *matchers))}}}"


def rate(series: str, *by: str) -> str:
    """How much they grow in a second, added up by these labels."""
    return f"{total(*by)} (rate({series}[$__rate_interval]))"


def grown(series: str, *by: str) -> str:
    """How much they have grown in the time that is shown."""
    return f"{total(*by)} (increase({series}[$__range]))"


def total(*by: str) -> str:
    """The sum by these labels, or over all."""
    return f"sum by ({', '.join(by)})" if by else "sum"


def known(series: str, *by: str) -> str:
    """How much they are since edged started, of what has ever happened: most reasons stay at 0 for ever."""
    return f"{total(*by)} ({series}) > 0"


def happening(series: str, *by: str) -> str:
    """How much they grow in a second, of what has ever happened."""
    return f"{rate(series, *by)}\nand\n{known(series, *by)}"


def share(part: str, whole: str) -> str:
    """Return an expression of the ratio of two others."""
    return f"{part}\n/\n{whole}"


def quantile(of: float, buckets: str, *by: str) -> str:
    """Of a histogram's `…_bucket` series."""
    return f"histogram_quantile({of:g}, {rate(buckets, *by, 'le')})"


def mean(histogram: str, *by: str) -> str:
    """Of a histogram or summary, as `of_node` or `of_camera` writes it."""
    metric, _, matchers = histogram.partition("{")
    return share(rate(f"{metric}_sum{{{matchers}", *by), rate(f"{metric}_count{{{matchers}", *by))
