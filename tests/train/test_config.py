"""What a person reads who made a mistake in the file of a training, and what a right one means."""

from pathlib import Path

import pytest

from edged.errors import ConfigError
from edged.train.config import load_training, named_networks

HEAD = "name: mine\ndata: {folder: pictures}\ninput: {width: 8, height: 8, color: gray}\n"


def load(folder: Path, text: str) -> list[str]:
    """The lines of the error, without the file's name."""
    path = folder / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_training(str(path))
    return [line.removeprefix(f"{path}:") for line in str(raised.value).splitlines()]


def test_a_file_says_all_that_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + "layers: [{conv: 4}, norm, relu, {max_pool: 2}, flatten, {dense: classes}]\n")

    training, file = load_training(str(path))

    assert file == path
    assert training.data is not None
    assert (training.data.kind, training.data.path) == ("folder", tmp_path / "pictures")
    assert [layer.kind for layer in training.layers] == ["conv", "norm", "relu", "max_pool", "flatten", "dense"]
    assert training.layers[0].conv is not None
    assert (training.layers[0].conv.filters, training.layers[0].conv.kernel) == (4, 3)


@pytest.mark.parametrize("name", named_networks())
def test_every_named_network_can_be_read(name: str) -> None:
    training, _ = load_training(name)

    assert training.name == name
    assert training.input is not None


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(
        ConfigError, match=r"mnist-dens: there is no such file or network; networks are: .*mnist-de"
    ):
        load_training("mnist-dens")


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ("[relux]", "4:10: layers.0: unknown layer 'relux'; did you mean 'relu'?"),
        (
            "[{conv: {filter: 3, filters: 3}}]",
            "4:18: layers.0.conv: unknown key 'filter'; did you mean 'filters'?",
        ),
        ("[{conv: {kernel: 3}}]", "4:17: layers.0.conv: the key 'filters' is missing"),
        ("[{dense: many}]", "4:18: layers.0.dense: expected a whole number or 'classes', found 'many'"),
        ("[{relu: {a: 1}}]", "4:18: layers.0.relu: unknown key 'a': there are no settings here"),
        ("[{residual: []}]", "4:10: layers.0: expected a list of layers: {residual: [ … ]}"),
        (
            "[{residual: [{conv: {filters: 0}}]}]",
            "4:39: layers.0.residual.0.conv.filters: expected at least 1, found 0",
        ),
        ("[7]", "4:10: layers.0: expected one layer, such as relu or {conv: {filters: 32, kernel: 3}}"),
    ],
)
def test_a_layer_that_makes_no_sense(tmp_path: Path, layers: str, message: str) -> None:
    assert load(tmp_path, f"{HEAD}layers: {layers}\n") == [message]


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = "name: a\ninput: {width: 8, height: 8, color: gray, mean: [1, 2, 3]}\nlayers: [flatten]\n"
    text += "train: {epochs: 1, steps: 3, rate: 0, validation: 0, stop_after: 2}\ndata: {idx: a, folder: b}\n"

    assert load(tmp_path, text) == [
        f"{tmp_path / 'mine.yaml'} has 5 mistakes:",
        "2:49: input.mean: has 3 number(s) for the 1 channel(s) of gray",
        "4:27: train.steps: give epochs or steps, not both",
        "4:36: train.rate: expected more than 0.0, found 0",
        "4:66: train.stop_after: needs pictures that are held out: give validation more than 0",
        "5:7: data: expected one of: idx, folder, crops, drawn",
    ]
