"""Tuning from the first try to the choice of the next plan."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from edged.engine.device import Device
from edged.engine.selection import Listener, Rules
from edged.engine.shape import shape_of
from edged.engine.tuning.attempt_log import AttemptLog
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import TuningTask, touched_bytes, work_of
from edged.engine.tuning.tuner import Tuner, TuningProgress
from edged.engine.tuning_records import chooser_for, read_record, user_record
from edged.engine.variants import VARIANTS
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_naive import CONV_NAIVE
from edged.engine.variants.variant import AnyVariant
from edged.model.graph import Conv, Operator
from tests.engine.tuning.sites import CONV_BROKEN, CONV_WRONG, conv_site

Tune = Callable[..., list[TuningProgress]]


@pytest.fixture(autouse=True)
def _few_variants_and_faulty_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    general = replace(CONV_GENERAL, parameters=lambda site: CONV_GENERAL.parameters(site)[:2])
    variants = (CONV_WRONG, CONV_BROKEN, CONV_NAIVE, general)
    monkeypatch.setitem(cast(dict[type[Operator], tuple[AnyVariant, ...]], VARIANTS), Conv, variants)


@pytest.fixture
def tune(device: Device, tmp_path: Path) -> Tune:
    """Tune two shapes, until the tuner has asked so often whether the time is up."""
    works = (TuningTask(conv_site(device), 0.003), TuningTask(conv_site(device, outputs=3), 0.001))
    rig = Rig(device, tmp_path / "programs", between=2**16)

    def tune(asks: int = 1000) -> list[TuningProgress]:
        asked = itertools.count()
        with AttemptLog(user_record(device, tmp_path), device) as attempts:
            return list(Tuner(rig, attempts, Rules(), works, lambda: next(asked) >= asks).tune())

    return tune


@pytest.mark.deep
def test_the_best_right_candidate_is_chosen_from_then_on(tune: Tune, device: Device, tmp_path: Path) -> None:
    *_, last = tune()

    assert (last.shapes_done, last.shapes, last.done_s) == (2, 2, last.frame_s)
    site = conv_site(device, name="of_any_name")
    chooser = chooser_for(device, tmp_path)
    [tuned] = chooser.tuned[shape_of(site).key]
    assert tuned.best is not None
    assert tuned.best.variant in {"conv_naive", "conv_general"}
    assert chooser.choose(site).variant.name == tuned.best.variant


@pytest.mark.deep
def test_what_is_wrong_or_fails_is_named_and_remembered(tune: Tune, device: Device, tmp_path: Path) -> None:
    steps = tune()
    reasons = {step.choice.variant.name: step.refused.reason for step in steps if step.choice and step.refused}
    record = read_record(user_record(device, tmp_path))
    assert record is not None

    assert reasons == {"conv_wrong": "wrong", "conv_broken": "failed"}
    for tuned in record.tuned:
        assert [refusal.variant for refusal in tuned.refused] == ["conv_wrong"] * 3 + ["conv_broken"] * 3


@pytest.mark.deep
def test_a_second_run_finds_nothing_to_do(tune: Tune) -> None:
    assert tune() != []
    assert tune() == []


@pytest.mark.deep
def test_a_run_that_was_cut_short_keeps_what_it_found_and_is_gone_on_with(
    tune: Tune, device: Device, tmp_path: Path
) -> None:
    cut = tune(asks=8)
    first, second = (
        chooser_for(device, tmp_path).tuned.get(shape_of(work).key)
        for work in (conv_site(device), conv_site(device, outputs=3))
    )
    *_, last = tune()

    assert cut[-1].shapes_done < last.shapes_done == 2
    assert first is not None
    assert first[0].best is not None
    assert second is None


def test_a_network_is_tuned_shape_by_shape_the_longest_first(device: Device) -> None:
    listener = Listener(Rules())
    for site in (conv_site(device, "a"), conv_site(device, "b", outputs=3), conv_site(device, "c")):
        assert listener.choose(site) == Rules().choose(site)
    works = work_of(listener.sites, {"a": 1, "b": 3, "c": 1, "prepare": 9})

    assert [(work.site.operator.name, work.frame_s) for work in works] == [("b", 3), ("a", 2)]
    assert touched_bytes(listener.sites) == sum(
        site.inputs[0].nbytes + site.output.nbytes + site.operator.weight.nbytes for site in listener.sites
    )
