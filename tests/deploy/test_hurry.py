"""What tests/e2e makes of rules, so that nobody waits for their times: expressions mean the same, but sooner."""

import pytest

from tests.e2e.hurry import hurried


@pytest.mark.parametrize(
    ("expression", "sooner"),
    [
        ("increase(frames[15m]) > 5", "increase(frames[8000ms]) > 5"),
        ("rate(frames[1m])", "rate(frames[4000ms])"),
        ("avg_over_time(mean1h[1d] offset 1h) - 0.05", "avg_over_time(mean1h[16000ms] offset 8000ms) - 0.05"),
        ("max_over_time(rate(frames[5m])[1h:30s])", "max_over_time(rate(frames[5000ms])[8000ms:4000ms])"),
        ('rate(frames{reason="max_fps"}[$__rate_interval])', 'rate(frames{reason="max_fps"}[$__rate_interval])'),
    ],
)
def test_windows_are_shorter_and_nothing_else_changes(expression: str, sooner: str) -> None:
    assert hurried(expression) == sooner
