"""The candidates of a layer that are worth compiling: those of edged's tuner, each code once."""

from collections import Counter

from edged.engine.selection import Rules, candidates
from edged.engine.tuning.tuner import PATIENCE
from tests.engine.records import SITE
from tools.mali.launches import parameters_of
from tools.mali.neighbours import launches_of, worth_compiling


def test_the_choice_comes_first_and_each_code_once() -> None:
    chosen = Rules().choose(SITE)

    found = list(worth_compiling(SITE, chosen))

    assert found[0] == chosen
    assert len({(each.variant.name, parameters_of(each)) for each in found}) == len(found)
    assert all(each in candidates(SITE) for each in found)


def test_no_more_of_a_variant_than_the_tuner_tries_without_a_gain() -> None:
    found = list(worth_compiling(SITE, Rules().choose(SITE)))[1:]

    counted = Counter(each.variant.name for each in found)
    assert {"conv_general", "conv_frequencies", "conv_vector", "conv_winograd", "conv_naive"} <= counted.keys()
    assert max(counted.values()) <= PATIENCE


def test_a_candidate_reads_the_halo_that_it_needs() -> None:
    vector = next(each for each in candidates(SITE) if each.variant.name == "conv_vector")

    (launch,) = launches_of(SITE, vector)

    assert launch.tensors[0].halo == vector.variant.reach(SITE, vector.parameters)
    assert launch.tensors[0].halo.top == 1
