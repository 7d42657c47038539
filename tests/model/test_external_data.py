"""Weights in other files, behind the links by which people arrange their models."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data

from edged import config
from edged.config.load import load_config
from edged.errors import ModelError
from edged.model.from_onnx.file import read_file
from edged.model.package import load_model
from tests.model.onnx_files import Network, resnet


def released(folder: Path, name: str = "net.onnx", data: str = "net.onnx.data") -> Path:
    """A network of four classes with its weights in another file."""
    (folder / data).parent.mkdir(parents=True)
    model = resnet(18, 16, 16, base=2, classes=4).model()
    convert_model_to_external_data(model, location=data, size_threshold=0)
    onnx.save_model(model, str(folder / name))
    return folder / name


def in_a_cache_of_links(folder: Path) -> Path:
    """Return the link to a model, beside a link to its data, both into a folder of files named by their hashes."""
    model = released(folder / "blobs", "0a1b", "model.onnx_data")
    (folder / "blobs/model.onnx_data").rename(folder / "blobs/2c3d")
    snapshot = folder / "snapshots/9e8f/onnx"
    snapshot.mkdir(parents=True)
    (snapshot / "model.onnx").symlink_to(f"../../../blobs/{model.name}")
    (snapshot / "model.onnx_data").symlink_to("../../../blobs/2c3d")
    return snapshot / "model.onnx"


def classes(path: Path) -> int:
    return len(load_model(config.ModelConfig(path=path)).labels)


def test_a_snapshot_of_links_into_a_store(tmp_path: Path) -> None:
    path = in_a_cache_of_links(tmp_path / "models--ada--net")

    assert classes(path) == 4
    assert read_file(path).external == (tmp_path / "models--ada--net/blobs/2c3d",)


def test_a_link_to_such_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "current.onnx").symlink_to(in_a_cache_of_links(tmp_path / "models--ada--net"))

    assert classes(tmp_path / "current.onnx") == 4


def test_a_config_that_names_a_snapshot(tmp_path: Path) -> None:
    link = in_a_cache_of_links(tmp_path / "models--ada--net")
    (tmp_path / "edged.yaml").write_text(
        f"cameras: {{a: {{source: 'synthetic:digits'}}}}\nmodel: {{path: {link}}}\n"
    )

    model = load_model(load_config(tmp_path / "edged.yaml", ()).model)

    assert (model.name, len(model.labels)) == ("model", 4)


def test_a_link_to_a_release_finds_the_data_beside_its_target(tmp_path: Path) -> None:
    released(tmp_path / "releases/2")
    (tmp_path / "current.onnx").symlink_to("releases/2/net.onnx")

    assert classes(tmp_path / "current.onnx") == 4


def test_missing_data_names_the_places_where_it_was_looked_for(tmp_path: Path) -> None:
    path = released(tmp_path / "releases/2")
    path.with_name("net.onnx.data").unlink()
    (tmp_path / "current.onnx").symlink_to("releases/2/net.onnx")

    with pytest.raises(
        ModelError, match=f"current.onnx: .* lies in net.onnx.data, .*beside the model, .*{path.parent}"
    ):
        classes(tmp_path / "current.onnx")


def test_a_link_to_a_folder_is_followed_within_the_model_s_folder_alone(tmp_path: Path) -> None:
    path = released(tmp_path / "net", data="weights/net.data")
    (tmp_path / "net/weights").rename(tmp_path / "net/weights-2")
    (tmp_path / "net/weights").symlink_to("weights-2")
    assert classes(path) == 4

    (tmp_path / "net/weights-2").rename(tmp_path / "elsewhere")
    (tmp_path / "net/weights").unlink()
    (tmp_path / "net/weights").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=r"lies in weights/net\.data, outside the model's folder"):
        classes(path)


def with_constant_elsewhere(path: Path, location: str) -> Path:
    """A network that adds a Constant of one value by channel, whose data lies at `location`."""
    tensor = numpy_helper.from_array(np.array([[[1.0]], [[2.0]], [[3.0]]], np.float32), "value")
    (path.parent / "values.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    network = Network(["N", 3, 8, 8])
    network.nodes.append(helper.make_node("Constant", [], ["offsets"], value=tensor))
    network.nodes.append(helper.make_node("Add", ["input", "offsets"], ["added"]))
    network.add("GlobalAveragePool", reads="added")
    return network.save(path)


def test_the_data_of_a_constant_node(tmp_path: Path) -> None:
    path = with_constant_elsewhere(tmp_path / "net.onnx", "values.bin")
    before = read_file(path)
    assert classes(path) == 3

    (tmp_path / "values.bin").write_bytes(np.array([4.0, 5.0, 6.0], np.float32).tobytes())
    assert read_file(path).sha256 != before.sha256


def test_the_data_of_a_constant_node_must_lie_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    path = with_constant_elsewhere(tmp_path / "net/net.onnx", "../values.bin")

    with pytest.raises(ModelError, match=r"tensor value lies in \.\./values\.bin, outside the model's folder"):
        classes(path)
