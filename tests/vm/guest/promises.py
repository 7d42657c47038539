"""What is promised of every fault."""

from tests.vm.guest.listener import Heard

PROMISED_S = 3.0  # within which a loss is told, and a return seen
MAX_AGE_S = 0.5  # the default of freshness.max_age_s


def captured_at(prediction: Heard) -> float:
    """By the wall clock."""
    return float(prediction.fields["captured_at"])


def age_s(prediction: Heard) -> float:
    """From the capture to the publication, while nobody sets the clock."""
    return float(prediction.fields["published_at"]) - captured_at(prediction)
