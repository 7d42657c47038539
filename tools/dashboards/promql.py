"""The few shapes that the expressions of the dashboards have."""

NODE = 'node=~"$node"'
CAMERA = f'{NODE},camera=~"$camera"'


def of_node(metric: str, *matchers: str) -> str:
    """Select the series of a metric of the chosen boards."""
    return f"{metric}{{{','.join((NODE, *matchers))}}}"


def of_camera(metric: str, *matchers: str) -> str:
    """Select the series of a metric of the chosen cameras."""
    return f"{metric}{{{','.join((CAMERA, *matchers))}}}"


def rate(series: str, *by: str) -> str:
    """Return their growth in a second, summed by these labels."""
    return f"{total(*by)} (rate({series}[$__rate_interval]))"


def grown(series: str, *by: str) -> str:
    """Return their growth in the time that is shown, summed by these labels."""
    return f"{total(*by)} (increase({series}[$__range]))"


def total(*by: str) -> str:
    """Return the operator that sums by these labels, or over all."""
    return f"sum by ({', '.join(by)})" if by else "sum"


def known(series: str, *by: str) -> str:
    """Return the values that are not 0: counters of most reasons stay at 0 for ever."""
    return f"{total(*by)} ({series}) > 0"


def happening(series: str, *by: str) -> str:
    """Return the rates of those counters that are not 0."""
    return f"{rate(series, *by)}\nand\n{known(series, *by)}"


def share(part: str, whole: str) -> str:
    """Return an expression of the ratio of two others."""
    return f"{part}\n/\n{whole}"


def quantile(of: float, buckets: str, *by: str) -> str:
    """Return a quantile from a histogram's `…_bucket` series."""
    return f"histogram_quantile({of:g}, {rate(buckets, *by, 'le')})"


def mean(histogram: str, *by: str) -> str:
    """Return the mean of a histogram or summary, as `of_node` or `of_camera` writes it."""
    metric, _, matchers = histogram.partition("{")
    return share(rate(f"{metric}_sum{{{matchers}", *by), rate(f"{metric}_count{{{matchers}", *by))
