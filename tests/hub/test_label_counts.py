"""Labels by name, as long as there are few."""

from edged.hub.stats.counters import LabelCounts
from edged.metrics import Metrics


def counted(most: int, told: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """By camera and label, after these predictions."""
    metrics = Metrics("1.2.3")
    counts = LabelCounts(metrics.labels, most)
    for camera, label in told:
        counts.add(camera, label)
    [family] = metrics.labels.collect()
    return {(sample.labels["camera"], sample.labels["label"]): sample.value for sample in family.samples}


def test_the_first_labels_of_a_camera_have_names_and_the_rest_are_one() -> None:
    told = [("door", label) for label in ("cat", "dog", "cat", "bird", "fish", "dog")]
    assert counted(2, told) == {("door", "cat"): 2, ("door", "dog"): 2, ("door", "other"): 2}


def test_each_camera_has_names_of_its_own() -> None:
    assert counted(1, [("door", "cat"), ("gate", "car")]) == {("door", "cat"): 1, ("gate", "car"): 1}


def test_a_thousand_labels_are_no_more_series_than_was_asked_for() -> None:
    assert len(counted(20, [("door", f"label {index}") for index in range(1000)])) == 21


def test_without_names_only_the_sum_is_kept() -> None:
    assert counted(0, [("door", "cat"), ("door", "dog")]) == {("door", "other"): 2}
