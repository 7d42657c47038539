"""`edged init` and `edged demo`: a new user has a config that runs, or needs none."""

import json
from pathlib import Path

import pytest

from edged.cli import run_command_line
from edged.cli.options import packaged_demo
from edged.config.load import load_config
from tests.cli import models
from tests.cli.command import edged_here
from tests.conftest import ROOT
from tests.evaluation.pictures import picture


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    picture(tmp_path / "photos" / "1.png", 1)
    return tmp_path / "photos"


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return models.small_network(tmp_path / "net.onnx")


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return the level of each finding of `edged check` by its subject."""
    report = json.loads(capsys.readouterr().out)
    return {each["what"]: each["level"] for each in report["findings"]}


def test_the_file_runs_the_given_camera_and_model(
    tmp_path: Path,
    photos: Path,
    network: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--camera", "door", "--source", "photos", "--model", "net.onnx", "--preprocess", "imagenet", "--json"]
    run_command_line(["init", *given])
    assert findings(capsys).keys() >= {"camera door", "model", "worker 0", "worker 1", "journal"}
    assert findings_are_of(tmp_path / "edged.yaml", photos, network)
    assert "source: photos" in (tmp_path / "edged.yaml").read_text()  # relative: the folder may be moved


def findings_are_of(file: Path, photos: Path, network: Path) -> bool:
    config = load_config(file)
    camera = config.cameras["door"]
    return (camera.source, config.model.path, config.model.preprocess) == (str(photos), network, "imagenet")


def test_quick_tries_no_device(tmp_path: Path, network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--source", "synthetic:digits", "--model", str(network), "--quick", "--json"]

    assert run_command_line(["init", str(tmp_path / "edged.yaml"), *given]) == 0

    report = json.loads(capsys.readouterr().out)
    texts = {each["what"]: each["text"] for each in report["findings"]}
    assert texts["worker 1"].endswith("(not tried: --quick)")


@pytest.mark.deep
def test_a_file_in_another_folder_finds_what_it_names(
    tmp_path: Path, photos: Path, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "etc").mkdir()
    given = ["--camera", "door", "--source", "photos", "--model", "net.onnx", "--preprocess", "imagenet"]
    run_command_line(["init", "etc/edged.yaml", *given])
    assert findings_are_of(tmp_path / "etc" / "edged.yaml", photos, network)


def test_without_arguments_the_digits_are_drawn_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("edged.cli.init.list_cameras", lambda: ())
    run_command_line(["init"])
    config = load_config(tmp_path / "edged.yaml")
    assert (config.cameras["camera"].source, config.model.name) == ("synthetic:digits", "digits")
    assert [worker.device for worker in config.workers] == ["auto", "numpy"]


def test_a_file_is_replaced_only_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "edged.yaml"
    file.write_text("mine")
    assert run_command_line(["init"]) == 2
    assert "edged.yaml exists: name another file, or replace it with --force" in capsys.readouterr().err
    assert file.read_text() == "mine"
    run_command_line(["init", "--force"])
    assert load_config(file).model.name == "digits"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--camera", "/dev/video0"], "--camera /dev/video0: expected a name of letters"),
        (["--model", "nowhere.onnx"], "nowhere.onnx"),
        (["--model", "lenet"], "there is no model lenet: name one of digits"),
    ],
)
def test_nothing_is_written_for_what_cannot_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["init", *arguments]) in {2, 3}
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_a_config_names_the_ways_to_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = edged_here("run")
    assert done.returncode == 2
    assert "`edged init` writes one, `edged demo` needs none" in done.stderr


def test_the_demo_is_part_of_the_package() -> None:
    assert packaged_demo() == ROOT / "edged" / "demo.yaml"
    assert not packaged_demo().is_symlink()  # an image is built from the package alone
    assert (ROOT / "configs" / "demo.yaml").samefile(packaged_demo())
    assert load_config(packaged_demo()).cameras.keys() == {"demo"}
