from edged.hub.stats.summary import Times


def test_median_and_99th_percentile() -> None:
    times = Times(1000)
    for value in range(1, 101):
        times.add(float(value))
    assert times.median_and_p99() == (50.5, 99.0)


def test_nothing_is_nothing() -> None:
    assert Times(10).median_and_p99() is None


def test_only_the_newest_count() -> None:
    times = Times(3)
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        times.add(value)
    assert times.median_and_p99() == (4.0, 5.0)
