"""Model files compressed by Zstandard."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from zstandard import ZstdCompressor

from edged import config
from edged.cli import run_command_line
from edged.errors import ModelError
from edged.evaluation.onnxruntime_scores import onnxruntime_scores
from edged.model.model_file import compress, decompress, read_content
from edged.model.package import Model, load_model
from tests.cli.models import small_network


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def beside(plain: Path) -> Path:
    """The file compressed, as NAME.onnx.zst."""
    path = plain.with_name(f"{plain.name}.zst")
    path.write_bytes(compress(plain.read_bytes()))
    return path


def loaded(path: Path) -> Model:
    return load_model(config.ModelConfig(path=path, preprocess="unit"))


def test_a_compressed_file_is_the_same_model(tmp_path: Path) -> None:
    plain = small_network(tmp_path / "net.onnx")
    expected = loaded(plain)

    for _ in ("read", "cached"):
        found = loaded(beside(plain))
        assert (found.name, found.sha256, found.input) == ("net", expected.sha256, expected.input)
        assert [each.name for each in found.graph.operators] == [each.name for each in expected.graph.operators]


def test_onnxruntime_gets_its_content(tmp_path: Path) -> None:
    plain = small_network(tmp_path / "net.onnx")
    images = np.random.default_rng(0).integers(0, 256, (2, 16, 16, 3), np.uint8)
    model_input = loaded(plain).input

    scores = onnxruntime_scores(beside(plain), model_input, images).scores

    assert scores is not None
    assert np.array_equal(scores, np.asarray(onnxruntime_scores(plain, model_input, images).scores))


def test_metadata_is_written_into_a_compressed_file(tmp_path: Path) -> None:
    path = beside(small_network(tmp_path / "net.onnx"))

    assert run_command_line(["model", "set-metadata", str(path), "--preprocess", "imagenet"]) == 0

    assert load_model(config.ModelConfig(path=path)).input.resize == "center-crop"


def with_changed_byte(content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-9], with_changed_byte, lambda content: content + b"!", lambda _: b""]
)
def test_a_damaged_file_is_one_error(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = beside(small_network(tmp_path / "net.onnx"))
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(ModelError, match=r"net\.onnx\.zst: is damaged, cut short, or no Zstandard file"):
        read_content(path)


def test_a_small_file_takes_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "zeros.onnx.zst"
    path.write_bytes(compress(bytes(2**24)))

    with pytest.raises(ModelError, match="more than 1000 times as many"):
        read_content(path)


def test_a_file_without_its_size_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx.zst"
    path.write_bytes(ZstdCompressor(write_content_size=False).compress(b"network"))

    with pytest.raises(ModelError, match="does not say its decompressed size"):
        read_content(path)


def test_without_the_package_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = beside(small_network(tmp_path / "net.onnx"))
    monkeypatch.setitem(sys.modules, "zstandard", None)  # as if it were not installed

    with pytest.raises(ModelError, match=r"needs zstandard: `zstd -d net\.onnx\.zst`, or .*pip install zstandard"):
        read_content(path)


def test_parts_of_different_statistics_get_codes_of_their_own() -> None:
    random = np.random.default_rng(0)
    few, many = random.integers(0, 4, 4000, np.uint8), random.integers(100, 140, 4000, np.uint8)
    content = few.tobytes() + many.tobytes()

    found = compress(content, [len(few)])

    assert len(found) < len(compress(content))
    assert decompress(found, Path("net.onnx.zst"), len(content)) == content
