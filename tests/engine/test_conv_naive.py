"""The convolution as one would first write it."""

import pytest
from hypothesis import HealthCheck, given, settings

from edged.engine.variants.conv_naive import CONV_NAIVE
from tests.engine.lab import Lab
from tests.engine.shapes import Case, cases


@pytest.mark.deep
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_any_convolution_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_NAIVE)
