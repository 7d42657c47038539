"""What holds for every variant."""

from importlib.resources import files
from pathlib import Path

import pytest

from edged.engine.variants import VARIANTS
from edged.engine.variants.variant import AnyVariant

ALL = [variant for variants in VARIANTS.values() for variant in variants]


@pytest.mark.parametrize("variant", ALL, ids=[variant.name for variant in ALL])
def test_kernel_and_test_bear_the_name_of_the_variant(variant: AnyVariant) -> None:
    engine = files("edged.engine")

    assert (engine / "kernels" / f"{variant.name}.cl").is_file()
    assert Path(__file__).with_name(f"test_{variant.name}.py").is_file()
