"""A file that cannot be used is one clear message with exit code 2, whichever verb reads it."""

import re
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from edged.cli import run_command_line
from tests.cli import models
from tests.cli.broken_files import BROKEN
from tests.cli.checking import check, config_file
from tests.evaluation.pictures import picture
from tests.model.onnx_files import Network
from tests.model.refused_networks import REFUSED


def broken(path: Path, case: str) -> str:
    """Write the file, and return what its message must match."""
    if case in REFUSED:
        build, message = REFUSED[case]
        network = Network(["N", 4, 9, 10])
        build(network)
        network.save(path)
        return message
    change, message = BROKEN[case]
    model = onnx.load(str(models.small_network(path)))
    change(model)
    path.write_bytes(model.SerializeToString())
    return message


def assert_one_message(folder: Path, model: Path, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    photo = picture(folder / "pictures" / "0" / "photo.png")
    verbs = (
        ["inspect", model],
        ["verify", model],
        ["predict", photo, "--model", model],
        ["eval", model, "--data", folder / "pictures"],
        ["bench", "--model", model],
    )
    for verb in verbs:
        assert run_command_line(list(map(str, verb))) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert re.search(f"^edged: {re.escape(str(model))}: .*{message}", line)

    code, found = check(config_file(folder, f"model: {{path: {model}}}\nworkers: [{{device: numpy}}]"), capsys)
    assert code == 2
    (finding,) = (text for text in found.values() if text.startswith("error"))
    assert re.search(f"^error {re.escape(str(model))}: .*{message}", finding)


@pytest.mark.parametrize("case", [*BROKEN, *REFUSED])
def test_a_network_that_cannot_be_used_is_one_message_from_each_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    model = tmp_path / "broken.onnx"

    message = broken(model, case)

    assert_one_message(tmp_path, model, message, capsys)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (models.text_file, "is not an ONNX file, or is cut short"),
        (models.truncated, "is not an ONNX file, or is cut short"),
        (models.absent, "no such file"),
    ],
)
def test_a_file_of_another_kind_is_one_message_from_each_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], Path], message: str
) -> None:
    model = make(tmp_path / "broken.onnx")

    assert_one_message(tmp_path, model, message, capsys)
