"""What `edged check` says of a version that was promoted."""

from pathlib import Path

import pytest

from edged.config.load import load_config
from edged.model.head_versions import PromotedRecord, save_promoted, teach_folder, version_path
from edged.model.package import load_model
from tests.cli.checking import check, config_file
from tests.hub.taught_heads import keep_unread_version


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config, with a state directory of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return config_file(tmp_path, "workers: [{device: numpy}]")


def promote(file: Path, base: str) -> tuple[Path, str]:
    """A version on top of the model with this hash: where it lies, and its name."""
    folder = teach_folder(load_config(file).node)
    version = keep_unread_version(folder, "open", "closed", base=base)
    save_promoted(folder, PromotedRecord().promote(version))
    return folder, version


def test_without_one_it_says_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "taught" not in check(file, capsys)[1]


def test_a_version_that_will_answer_is_named_with_its_labels(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load_model(load_config(file).model)
    _, version = promote(file, model.sha256)
    code, found = check(file, capsys)
    assert (code, found["taught"]) == (0, f"ok version {version[:12]} (open, closed) answers, on top of model")


def test_one_of_another_model_or_a_damaged_one_is_a_warning_for_the_configs_model_would_answer(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, version = promote(file, "5" * 64)
    code, other = check(file, capsys)
    version_path(folder, version, "head").unlink()
    _, damaged = check(file, capsys)

    assert code == 0
    assert other["taught"].startswith(
        f"warning version {version[:12]} (open, closed) was taught to told (555555555555)"
    )
    assert "the config's model would answer" in other["taught"]
    assert damaged["taught"].startswith(f"warning {folder}/versions/{version}.head cannot be read")
