"""A version is one file for any runtime, and what edged wants to know of it."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from edged import config
from edged.errors import ModelError
from edged.model import reference
from edged.model.head import Head, features_of, with_head
from edged.model.head_versions import PromotedRecord, Version, load_head, load_version, save_promoted, version_path
from edged.model.package import Model, load_model
from edged.teach import versions
from edged.teach.fit import FitSettings, first_head
from edged.teach.store_files import StoreError
from edged.teach.versions import find_version, versions_in, write_version
from tests.disks import a_small_disk


def head_for(model: Model, seed: int = 1) -> Head:
    (features,) = features_of(model.graph).shape
    return first_head(features, 2, FitSettings(hidden=8, seed=seed))


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(config.ModelConfig(name="digits"))


def written(folder: Path, model: Model, seed: int = 1) -> Version:
    head = head_for(model, seed)
    return write_version(folder, model, head, ("closed", "open"), seed, {"crops": 5, "right": 4})


@pytest.mark.parametrize("name", ["digits", "mobilenetv2", "mobilenetv3_small"])
def test_onnxruntime_and_edged_answer_as_backbone_and_head_do(folder: Path, name: str) -> None:
    model = load_model(config.ModelConfig(name=name, size=None if name == "digits" else 32))
    version = written(folder, model)
    x = np.random.default_rng(0).standard_normal((2, *model.graph.shapes[model.graph.input])).astype(np.float32)
    expected = reference.run(with_head(model.graph, head_for(model)), x)
    path = version_path(folder, version.sha256, "onnx")

    session = onnxruntime.InferenceSession(str(path))
    (theirs,) = session.run(None, {session.get_inputs()[0].name: x})
    ours = load_model(config.ModelConfig(path=path))

    assert theirs == pytest.approx(expected, abs=1e-5)
    assert reference.run(ours.graph, x) == pytest.approx(expected, abs=1e-5)
    assert (ours.labels, ours.input, ours.name) == (("closed", "open"), model.input, f"{name}-taught")


def test_its_name_is_the_hash_of_its_file_and_the_same_head_gives_the_same(folder: Path, digits: Model) -> None:
    version = written(folder, digits)

    content = version_path(folder, version.sha256, "onnx").read_bytes()

    assert sha256(content).hexdigest() == version.sha256 == written(folder, digits).sha256
    assert load_version(folder, version.sha256).base.sha256 == digits.sha256
    assert len(load_head(folder, version)) == version.head_bytes


def test_the_newest_is_found_and_any_other_by_the_beginning_of_its_hash(folder: Path, digits: Model) -> None:
    first, second = written(folder, digits, 1), written(folder, digits, 2)

    assert find_version(folder, None) == second
    assert find_version(folder, first.sha256[:8]) == first
    with pytest.raises(ModelError, match=f"has no version xyz; there are: {first.sha256[:12]}"):
        find_version(folder, "xyz")


def test_the_oldest_go_but_for_those_that_answer_or_did(
    folder: Path, digits: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "KEPT", 2)
    first, second = written(folder, digits, 1), written(folder, digits, 2)
    save_promoted(folder, PromotedRecord().promote(first.sha256))

    third, fourth = written(folder, digits, 3), written(folder, digits, 4)

    assert versions_in(folder) == [first, third, fourth]
    assert not version_path(folder, second.sha256, "onnx").exists()


def test_what_a_killed_training_has_left_is_no_version(folder: Path, digits: Model) -> None:
    version = written(folder, digits)
    version_path(folder, version.sha256, "json").unlink()
    assert versions_in(folder) == []


def test_a_disk_that_is_full_is_one_clear_error_and_leaves_no_version(tmp_path: Path, digits: Model) -> None:
    with a_small_disk(tmp_path / "disk") as disk:  # smaller than the network
        folder = disk / "test/teach"
        with pytest.raises(StoreError, match=r"\.onnx: cannot be written: No space left on device"):
            written(folder, digits)
        assert versions_in(folder) == []
        assert not [path for path in folder.rglob("*") if path.is_file()]
