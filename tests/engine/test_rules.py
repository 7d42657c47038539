"""The choice for a device that nobody has tuned for."""

import pytest

from edged.engine.rules import Rules
from edged.errors import ConfigError


def test_an_unknown_variant_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match="'fancy'; there are: auto, vector, winograd, general, depthwise, naive"):
        Rules("fancy")
