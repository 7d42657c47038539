"""When a run ends by itself."""

from dataclasses import dataclass

from edged.clock import seconds_since


@dataclass(frozen=True, slots=True)
class Limits:
    """After so many predictions, or so many seconds after the first worker was ready; None: never."""

    predictions: int | None = None
    seconds: float | None = None

    def are_enough(self, predictions: int) -> bool:
        """Whether there must not be more predictions than these."""
        return self.predictions is not None and predictions >= self.predictions

    def time_is_up(self, first_ready_ns: int | None) -> bool:
        """Whether the run has lasted long enough. `first_ready_ns`: when the first worker was ready."""
        return (
            self.seconds is not None
            and first_ready_ns is not None
            and seconds_since(first_ready_ns) >= self.seconds
        )
