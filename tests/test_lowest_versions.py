"""The constraints with which `make test-lowest` installs."""

import pytest

from tools.lowest_versions import lowest_versions


def test_the_lowest_version_is_the_bound_itself() -> None:
    assert lowest_versions('[project]\ndependencies = ["numpy>=1.26", "pyzmq>=26.2"]') == [
        "numpy==1.26",
        "pyzmq==26.2",
    ]


@pytest.mark.parametrize("requirement", ["numpy", "numpy>=1.26,<3", "numpy==1.26"])
def test_a_dependency_without_a_plain_lower_bound_is_an_error(requirement: str) -> None:
    with pytest.raises(ValueError, match="expected name>=version"):
        lowest_versions(f'[project]\ndependencies = ["{requirement}"]')
