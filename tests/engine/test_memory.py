"""Tensors in one arena."""

from hypothesis import given
from hypothesis import strategies as st

from edged.engine.layout import Tensor
from edged.engine.memory import Span, arrange

SPANS = st.lists(
    st.tuples(st.integers(1, 50), st.integers(0, 20), st.integers(0, 8)).map(
        lambda drawn: (drawn[0], (drawn[1], drawn[1] + drawn[2]))
    ),
    max_size=25,
)


def tensors(drawn: list[tuple[int, Span]]) -> dict[Tensor, Span]:
    return {Tensor(f"t{i}", 1, channels, 3, 3, 1): span for i, (channels, span) in enumerate(drawn)}


@given(SPANS)
def test_tensors_that_live_together_never_overlap(drawn: list[tuple[int, Span]]) -> None:
    spans = tensors(drawn)

    arena = arrange(spans, alignment=128)

    places = [(arena.offsets[t.name], arena.offsets[t.name] + t.nbytes, span) for t, span in spans.items()]
    for index, (start, end, span) in enumerate(places):
        assert start % 128 == 0
        assert end <= arena.size
        for other_start, other_end, other in places[:index]:
            together = span[0] <= other[1] and other[0] <= span[1]
            assert not together or end <= other_start or other_end <= start


def test_a_chain_needs_two_tensors_at_a_time() -> None:
    chain = {Tensor(f"t{i}", 1, 32, 4, 4, 16): (i, i + 1) for i in range(10)}

    assert arrange(chain, alignment=128).size == 2 * 32 * 4 * 4 * 4
