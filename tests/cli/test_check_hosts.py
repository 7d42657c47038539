"""`edged check` of a pipeline on several hosts: on the hub's, and on the others."""

from pathlib import Path

import pytest

from edged.cli import run_command_line
from edged.transport.keys import new_pair
from tests.cli.checking import check, config_file
from tests.eventually import free_port

CAMERA = "cameras: {yard: {source: 'synthetic:digits', host: gate}}\n"
WORKERS = "workers: [{device: numpy, host: big}, {device: numpy}]\n"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Of the hub, and of the hosts gate and big."""
    folder = tmp_path / "keys"
    folder.mkdir()
    for name in ("hub", "gate", "big"):
        new_pair(folder, name)
    return folder


def link(**without: str) -> str:
    """Everything that it takes, but for what `without` says otherwise."""
    lines = {
        "key": "keys/hub.key",
        "hub": "keys/hub.pub",
        "allow": "[]",
        "cameras": "[keys/gate.pub]",
        "workers": "[keys/big.pub]",
        **without,
    }
    security = ", ".join(f"{key}: {value}" for key, value in lines.items() if value)
    address = f"link: {{address: 'tcp://192.168.1.10:5572', bind: 'tcp://0.0.0.0:{free_port()}'}}\n"
    return CAMERA + WORKERS + address + f"security: {{{security}}}\n"


def test_on_the_hubs_host_it_says_what_is_to_be_started_where(
    tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = check(config_file(tmp_path, link()), capsys)
    assert code == 0
    assert found["camera yard"] == "ok on host gate: `edged camera yard --config FILE` there"
    assert found["worker 0"] == "ok on host big: `edged worker 0 --config FILE` there"
    assert found["worker 1"] == "ok numpy: NumPy; takes over if those before it fail"
    assert found["security.cameras"] == "ok gate"
    assert found["link.address"].endswith("is free")


@pytest.mark.parametrize(("text", "what", "words"), [
    (CAMERA, "link.address", "is missing: cameras.yard is on host gate"),
    (CAMERA + "link: {address: 'tcp://127.0.0.1:5572'}\n", "link.address", "is for its own host alone"),
    (link(hub=""), "security.hub", "is missing: without the hub's public key"),
    (link(hub="keys/big.pub"), "security.hub", "is not the public half of"),
    (link(cameras="[]"), "security.cameras", "holds no key: the cameras of gate would be rejected"),
    (link(workers="[keys/none.pub]"), "security.workers", "keys/none.pub: expected a key file, found nothing"),
])  # fmt: skip
def test_what_is_missing_is_an_error_that_names_its_place(
    tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str], text: str, what: str, words: str
) -> None:
    code, found = check(config_file(tmp_path, text), capsys)
    assert code == 2
    assert found[what].startswith("error")
    assert words in found[what]


def test_a_link_without_keys_and_a_group_that_is_torn_apart_are_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = "workers: [{device: numpy, group: a}, {device: numpy}, {device: numpy, group: a}]\n"
    address = f"link: {{address: 'tcp://0.0.0.0:{free_port()}', insecure: true}}\n"
    code, found = check(config_file(tmp_path, CAMERA + groups + address), capsys)
    assert code == 0
    assert found["workers"] == "warning group a is in 2 places of the list: only adjacent workers serve together"


def test_on_another_host_it_looks_at_what_that_host_does(
    tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_file(tmp_path, link(key="keys/gate.key"))
    code, found = check(file, capsys, "--host", "gate")
    assert code == 0
    assert list(found) == ["camera yard", "link.address", "security.hub"]
    code, found = check(config_file(tmp_path, link()), capsys, "--host", "big")
    assert code == 2
    assert found["worker 0"] == "ok numpy: NumPy; runs the model"
    assert "is the hub's own secret: make a key for big" in found["security.hub"]


def test_a_host_that_the_file_does_not_name_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["check", str(config_file(tmp_path, link())), "--host", "gat"]) == 2
    assert "no camera or worker has host: gat; the file names: big, gate" in capsys.readouterr().err
