"""Comparison of graphs."""

from dataclasses import fields

import numpy as np

from edged.model.graph import Graph


def assert_equal(found: Graph, expected: Graph) -> None:
    """Compare two graphs, their weights included."""
    assert (found.name, found.input, found.output) == (expected.name, expected.input, expected.output)
    assert found.shapes == expected.shapes
    for one, other in zip(found.operators, expected.operators, strict=True):
        assert type(one) is type(other)
        for field in fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
