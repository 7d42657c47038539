"""Random networks give the answers of onnxruntime; `make fuzz` tries 10,000."""

import pytest

from trials.fuzz import networks


def test_a_few_are_right() -> None:
    networks.compare(50)


@pytest.mark.deep
def test_many_are_right() -> None:
    networks.compare(1000)
