from prometheus_client import generate_latest

from edged.metrics import Metrics


def test_frames_are_counted_from_totals() -> None:
    metrics = Metrics("1.2.3")
    metrics.count_frames("door", 10, {"stale": 2}, pending=1)
    metrics.count_frames("door", 15, {"stale": 2, "motion": 3}, pending=0)
    sample = metrics.registry.get_sample_value
    assert sample("edged_frames_total", {"camera": "door"}) == 15
    assert sample("edged_frames_dropped_total", {"camera": "door", "reason": "stale"}) == 2
    assert sample("edged_frames_dropped_total", {"camera": "door", "reason": "motion"}) == 3
    assert sample("edged_frames_pending", {"camera": "door"}) == 0


def test_every_metric_has_the_prefix_a_help_text_and_no_time_of_creation() -> None:
    ours = [family for family in Metrics("1.2.3").registry.collect() if family.name.startswith("edged_")]
    assert len(ours) >= 17
    assert all(family.documentation.endswith(".") for family in ours)
    assert b"_created" not in generate_latest(Metrics("1.2.3").registry)
