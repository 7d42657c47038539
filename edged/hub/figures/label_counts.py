"""Best labels by camera, counted by name as long as there are few."""

from edged.metrics.quick import Family, Value

OTHER = "other"


class LabelCounts:
    """A model may know thousands of labels, and Prometheus keeps each that it has ever seen.

    So of each camera the first `most` that come up have a name, and all that come later share one.
    """

    def __init__(self, counter: Family[Value], most: int) -> None:
        self._counter = counter
        self._most = most
        self._named: dict[str, dict[str, Value]] = {}  # by camera and label
        self._others: dict[str, Value] = {}

    def add(self, camera: str, label: str) -> None:
        """One more prediction."""
        named = self._named.setdefault(camera, {})
        if label not in named and len(named) < self._most:
            named[label] = self._counter.labels(camera, label)
        (named.get(label) or self._other(camera)).inc()

    def _other(self, camera: str) -> Value:
        if camera not in self._others:
            self._others[camera] = self._counter.labels(camera, OTHER)
        return self._others[camera]
