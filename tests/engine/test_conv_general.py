"""The convolution with many work-items, for any device."""

from hypothesis import HealthCheck, given, settings

from edged.engine.variants.conv_general import CONV_GENERAL
from tests.engine.lab import Lab
from tests.engine.shapes import Case, cases


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_any_convolution_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_GENERAL)
