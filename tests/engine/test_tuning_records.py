"""Tuning records, from the file to the choice."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from edged.engine import tuning_records
from edged.engine.selection import Rules, candidates
from edged.engine.tuning_records import (
    MeasuredOn,
    chooser_for,
    family_of,
    file_name,
    json_schema,
    read_record,
    user_record,
    write_json,
)
from edged.errors import ConfigError, DeviceError
from edged.model.activations import RELU
from tests.engine.networks import conv
from tests.engine.records import BOARD, SITE, best, record, refused, unlike_rules


@pytest.fixture(autouse=True)
def _shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record is shipped but those of the test."""
    monkeypatch.setattr(tuning_records, "SHIPPED", tmp_path / "shipped")


def test_the_users_record_goes_before_the_devices_the_familys_and_the_rules(
    tmp_path: Path,
) -> None:
    places = [
        tmp_path / "shipped" / "mali-t6.json",
        tmp_path / "shipped" / file_name(BOARD),
        user_record(BOARD, tmp_path),
    ]
    assert chooser_for(BOARD, tmp_path).choose(SITE) == Rules().choose(SITE)
    for position, place in enumerate(places):
        write_json(place, record(best(unlike_rules(position))))

        assert chooser_for(BOARD, tmp_path).choose(SITE) == unlike_rules(position)


def test_a_record_holds_for_equal_sites_of_any_name_and_no_other(tmp_path: Path) -> None:
    write_json(user_record(BOARD, tmp_path), record(best(unlike_rules(0))))
    chooser = chooser_for(BOARD, tmp_path)
    twin = replace(SITE, operator=conv("twin", ("x",), (20, 33), 3, activation=RELU))
    padded = replace(SITE, inputs=(replace(SITE.inputs[0], channels=19),))

    assert chooser.choose(twin) == unlike_rules(0)
    assert chooser.choose(padded) == Rules().choose(padded)


def test_a_refused_variant_is_not_used_whatever_record_names_it(tmp_path: Path) -> None:
    ruled = Rules().choose(SITE)
    write_json(user_record(BOARD, tmp_path), record(refused(ruled)))
    write_json(tmp_path / "shipped" / "mali-t6.json", record(best(ruled)))

    assert chooser_for(BOARD, tmp_path).choose(SITE) != ruled


def test_a_device_on_which_nothing_is_right_is_an_error(tmp_path: Path) -> None:
    write_json(user_record(BOARD, tmp_path), record(refused(*candidates(SITE))))

    with pytest.raises(DeviceError, match="Mali-T624 computes up wrongly"):
        chooser_for(BOARD, tmp_path).choose(SITE)


def test_a_refusal_ends_with_the_source_that_it_was_of(tmp_path: Path) -> None:
    ruled = Rules().choose(SITE)
    tuned = refused(ruled)
    older = tuned.refused[0].model_copy(update={"source": "0123456789ab"})
    write_json(user_record(BOARD, tmp_path), record(tuned.model_copy(update={"refused": (older,)})))

    assert chooser_for(BOARD, tmp_path).choose(SITE) == ruled


@pytest.mark.parametrize(
    "way",
    [{"variant": "conv_of_old"}, {"parameters": {"TILE": 7}}, {"variant": "max_pool", "parameters": {}}],
    ids=["variant", "parameters", "operator"],
)
def test_a_choice_that_no_longer_exists_is_logged_once_and_ignored(
    way: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there, *_ = [best(unlike_rules(0))]
    assert there.best is not None
    gone = there.model_copy(update={"best": there.best.model_copy(update=way)})
    write_json(user_record(BOARD, tmp_path), record(gone))
    chooser = chooser_for(BOARD, tmp_path)

    assert chooser.choose(SITE) == chooser.choose(SITE) == Rules().choose(SITE)
    assert caplog.text.count("run `edged tune` again") == 1


def truncated(text: str) -> str:
    return text[: len(text) // 2]


def with_text_for_a_number(text: str) -> str:
    return text.replace('"seconds": 0.001', '"seconds": "fast"')


def with_an_unknown_key(text: str) -> str:
    return text.replace('"seconds"', '"second": 1, "seconds"')


DAMAGES: dict[Callable[[str], str], str] = {
    truncated: "Invalid JSON: EOF while parsing",
    with_text_for_a_number: r"tuned\[0\].best.seconds: Input should be a valid number",
    with_an_unknown_key: r"tuned\[0\].best.second: Extra inputs are not permitted",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_one_clear_error_and_the_plan_is_made_without_it(
    damage: Callable[[str], str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = user_record(BOARD, tmp_path)
    write_json(place, record(best(unlike_rules(0))))
    place.write_text(damage(place.read_text()))

    with pytest.raises(ConfigError, match=f"{place}: {DAMAGES[damage]}.*remove it and run `edged tune`"):
        read_record(place)
    with caplog.at_level(logging.WARNING):
        assert chooser_for(BOARD, tmp_path).choose(SITE) == Rules().choose(SITE)
    assert caplog.text.count(str(place)) == 1


def test_a_file_fits_the_published_schema(tmp_path: Path) -> None:
    place = tmp_path / "record.json"
    write_json(place, record(best(unlike_rules(0)), refused(unlike_rules(1))))

    jsonschema.validate(json.loads(place.read_text()), json.loads(json_schema()))


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    written = record(best(unlike_rules(0)), refused(unlike_rules(1)))
    write_json(tmp_path / "record.json", written)

    assert read_record(tmp_path / "record.json") == written
    assert read_record(tmp_path / "absent.json") is None
    assert written.device == MeasuredOn(platform="ARM Platform", name="Mali-T624", driver="1.2")


@pytest.mark.parametrize(
    ("changes", "family"),
    [
        ({"name": "Mali-T624"}, "mali-t6"),
        ({"name": "Mali-G610 r0p0"}, "mali-g"),
        ({"name": "NVIDIA H100 80GB", "platform": "NVIDIA CUDA"}, "gpu-nvidia"),
        ({"name": "V3D 7.1", "platform": "Broadcom (clvk)"}, "gpu-broadcom-clvk"),
        ({"name": "pthread-AMD EPYC", "kind": "cpu", "vector_width": 16}, "cpu-amd-16"),
        ({"name": "cortex-a72", "kind": "cpu"}, "cpu-other-4"),
    ],
)
def test_a_family_is_known_by_the_devices_name(changes: dict[str, Any], family: str) -> None:
    assert family_of(replace(BOARD, **changes)) == family


def test_boards_of_a_kind_share_a_file_name() -> None:
    assert file_name(BOARD) == file_name(replace(BOARD, position=(1, 0))) == "arm-platform-mali-t624-1-2-x4.json"


def test_a_record_that_others_may_write_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = user_record(BOARD, tmp_path)
    write_json(place, record(best(unlike_rules(0))))
    place.chmod(0o664)

    with pytest.raises(
        ConfigError, match=f"{place} is writable by other users and is ignored: .*chmod go-w {place}"
    ):
        read_record(place)
    with caplog.at_level(logging.WARNING):
        assert chooser_for(BOARD, tmp_path).choose(SITE) == Rules().choose(SITE)
    assert caplog.text.count("is writable by other users") == 1
