"""What a contender is: one call that takes images to scores."""

from collections.abc import Callable

from edged.model.reference import Array

Run = Callable[[], Array]  # scores [batch, classes]; NaN where a contender has none
