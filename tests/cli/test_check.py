"""`edged check`: what would run, and all that is in the way at once."""

import json
import re
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from edged import __version__, config
from edged.config.load import load_config
from edged.engine.device import list_devices
from edged.hub.journal.schema import LAYOUT
from edged.model.cuts import cuts
from edged.model.model_part import part_of, whole_model
from edged.model.package import load_model
from tests.camera.motion_jpeg import MotionJpeg, serving
from tests.cli import models
from tests.cli.checking import check, config_file
from tests.cli.command import DEVICES, NO_OPENCL, edged, edged_here
from tests.eventually import free_port
from tests.runtime.answers import answer

SEGMENTS = "segments: [{{until: {}, workers: a}}, {{workers: b}}]\n"


def test_a_config_in_order_says_what_would_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = config_file(tmp_path, "workers: [{device: numpy}]")

    code, found = check(file, capsys)

    assert code == 0
    assert found["camera demo"] == "ok synthetic:digits"
    assert "16×16, 5 classes" in found["model"]
    assert found["worker 0"] == "ok numpy: NumPy; runs the model"
    assert found["publish.address"].endswith("is free")


def test_states_of_labels_that_the_model_does_not_have_are_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = 'workers: [{device: numpy}]\nstates: {demo: {labels: ["1", closed]}}'

    code, found = check(config_file(tmp_path, states), capsys)

    assert code == 0
    assert found["states demo"] == "warning the model has no label closed; right for labels that you teach"


def test_a_network_in_segments_says_who_runs_what_and_how_much_crosses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workers = "workers: [{device: numpy, group: a}, {device: numpy, group: b}, {device: numpy}]\n"

    code, found = check(config_file(tmp_path, workers + SEGMENTS.format("a")), capsys)

    assert code == 0
    assert found["model"].endswith("; cut after a, where 8 kB a frame cross")
    assert found["worker 0"] == "ok numpy: NumPy; runs its part, from the images to a"
    assert found["worker 1"] == "ok numpy: NumPy; runs its part, from a to the scores"
    assert found["worker 2"] == "ok numpy: NumPy; takes over if those before it fail"

    code, found = check(config_file(tmp_path, workers + SEGMENTS.format("stage2")), capsys)

    assert code == 2
    assert "cannot be cut after 'stage2'; a single tensor crosses after: a, c, c/flat" in found["model"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("network", [models.small_network, models.convolutions_alone])
def test_each_cut_that_it_accepts_runs_and_each_other_is_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], network: Callable[[Path], Path], device: str
) -> None:
    path = network(tmp_path / "network.onnx")
    model = load_model(config.ModelConfig(path=path))
    frames = whole_model(model).noise(2)
    expected = whole_model(model).truth(frames)
    workers = f"model: {{path: {path}}}\nworkers: [{{device: numpy, group: a}}, {{device: numpy, group: b}}]\n"
    verdicts = {}

    for cut in cuts(model.graph):
        code, found = check(config_file(tmp_path, workers + SEGMENTS.format(cut.after)), capsys)
        verdicts[cut.after] = code
        if code:
            assert "cut it after an earlier layer" in found["model"]
        else:
            between = answer(model, part_of(model, None, cut.after), device, frames)
            scores = answer(model, part_of(model, cut.after, None), device, between)
            error = np.abs(scores.reshape(expected.shape) - expected).max()
            assert error < 1e-4 * np.abs(expected).max(), cut.after

    refused = [name for name, code in verdicts.items() if code]
    assert refused == ([] if network is models.small_network else [list(verdicts)[-1]])


def test_shapes_that_contradict_each_other_are_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.contradictory(tmp_path / "contradictory.onnx")

    code, found = check(config_file(tmp_path, f"model: {{path: {model}}}\nworkers: [{{device: numpy}}]"), capsys)

    assert code == 0
    assert found["shapes"].startswith(
        "warning node first (Conv) writes a of the shape [1, 8, 16, 16], but the file declares [1, 7, 16, 16] (and"
    )


def test_a_preparation_that_nothing_says_is_a_warning_with_what_to_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = check(config_file(tmp_path, "workers: [{device: numpy}]"), capsys)

    assert code == 0
    assert found["preprocess"].startswith(
        "warning nothing says how pictures are prepared for this model; by default"
    )
    assert "unit: resize 16×16 (stretch), RGB, scale 1/255" in found["preprocess"]
    assert "add `preprocess: imagenet` to `model:`" in found["preprocess"]


def test_the_preparation_and_who_says_it_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = f"{{path: {models.small_network(tmp_path / 'model.onnx')}, preprocess: imagenet}}"

    _, found = check(config_file(tmp_path, f"model: {model}\nworkers: [{{device: numpy}}]"), capsys)

    assert found["preprocess"] == (
        "ok imagenet: resize the shorter side to 18, crop the centre 16×16, RGB, scale 1/255, mean "
        "0.485, 0.456, 0.406, std 0.229, 0.224, 0.225 (from this file)"
    )
    _, found = check(config_file(tmp_path, "model: {name: digits}\nworkers: [{device: numpy}]"), capsys)
    assert found["preprocess"].endswith("mean 0.5, std 0.25 (from the model's file)")


def test_all_that_is_wrong_is_reported_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        file = config_file(
            tmp_path,
            f"model: {{path: {models.text_file(tmp_path / 'text.onnx')}}}\n"
            f"metrics: {{address: '127.0.0.1:{port}'}}\n"
            "workers: [{device: Voodoo}]\n"
            "cameras: {gone: {source: gone.mp4}}",
        )
        code, found = check(file, capsys)

    assert code == 2
    assert found["model"].startswith("error")
    assert "text.onnx" in found["model"]
    assert found["metrics.address"].startswith(f"error 127.0.0.1:{port} is in use")
    assert found["worker 0"].startswith("error")
    assert "Voodoo" in found["worker 0"]
    assert found["camera gone"].startswith("warning")
    assert "keep trying" in found["camera gone"]


def test_a_device_that_is_absent_is_a_warning_while_another_one_can_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_file(tmp_path, "workers: [{device: Voodoo}, {device: numpy}, {device: numpy}]")

    code, found = check(file, capsys)

    assert code == 0
    assert found["worker 0"].startswith("warning")
    assert found["worker 1"] == "ok numpy: NumPy; runs the model"
    assert "takes over" in found["worker 2"]


@pytest.mark.deep
@pytest.mark.skipif(not list_devices(), reason="no OpenCL runtime")
def test_less_than_fp32_is_said_with_where_its_error_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config_file(tmp_path, "workers: [{device: auto, precision: fp16-weights}]")

    _, found = check(file, capsys)

    assert "runs the model in fp16-weights" in found["worker 0"]
    assert "`edged verify … --device auto --precision fp16-weights --images FOLDER`" in found["worker 0"]


def test_the_default_devices_fall_back_to_numpy_without_opencl(tmp_path: Path) -> None:
    done = edged("check", config_file(tmp_path, ""), env=NO_OPENCL)

    assert done.returncode == 0
    assert "apt install pocl-opencl-icd" in done.stdout
    assert "NumPy; runs the model" in done.stdout


def test_random_weights_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = config_file(tmp_path, "model: {name: resnet18, size: 32}")

    _, found = check(file, capsys, "--quick")

    assert found["model"].startswith("warning resnet18")
    assert "random weights" in found["model"]


def test_a_network_camera_is_watched_for_a_second(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(MotionJpeg) as url:
        cameras = f"{{gate: {{source: '{url}'}}, away: {{source: 'http://127.0.0.1:{free_port()}/x'}}}}"
        _, found = check(config_file(tmp_path, f"cameras: {cameras}"), capsys, "--quick")

    assert re.fullmatch(r"ok http://127\.0\.0\.1:\d+.*, 64×48, \d+(\.\d)? pictures/s", found["camera gate"])
    assert "the host refuses connections at port" in found["camera away"]


def test_offline_no_network_camera_is_contacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0)
        port = server.getsockname()[1]
        file = config_file(tmp_path, f"cameras: {{gate: {{source: 'rtsp://127.0.0.1:{port}/stream'}}}}")
        _, found = check(file, capsys, "--offline")
        with pytest.raises(BlockingIOError):
            server.accept()

    assert found["camera gate"].startswith("ok rtsp://")


def test_a_password_that_cannot_be_had_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    camera = "{source: 'rtsp://127.0.0.1/x', user: me, password_file: absent}"
    file = config_file(tmp_path, f"cameras: {{gate: {camera}}}")

    code, found = check(file, capsys)

    assert code == 2
    assert "absent" in found["camera gate"]


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    file = config_file(tmp_path, f"journal: {{path: {tmp_path}/file/journal.sqlite}}")

    code, found = check(file, capsys)

    assert code == 2
    assert found["journal"].startswith("error")


def test_a_journal_of_a_newer_version_is_an_error_that_names_both_and_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(journal)) as database:
        database.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    content = journal.read_bytes()

    code, found = check(config_file(tmp_path, "workers: [{device: numpy}]"), capsys)

    assert (code, journal.read_bytes()) == (2, content)
    assert found["journal"] == (
        f"error {journal} cannot be used: it has layout {LAYOUT + 1}, and edged {__version__} knows those up to "
        f"{LAYOUT}: a newer edged wrote it; use that one, or choose another journal.path"
    )


@pytest.mark.parametrize(("what", "name"), [("crops", "teach/manifest.json"), ("fleet", "fleet/progress.json")])
def test_a_state_file_of_a_newer_version_is_a_warning_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str, name: str
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    file = config_file(tmp_path, "workers: [{device: numpy}]")
    newer = tmp_path / "state" / load_config(file).node / name
    newer.parent.mkdir(parents=True)
    newer.write_text(json.dumps({"schema": 2, "edged": "9.4.0"}))

    code, found = check(file, capsys)

    assert code == 0
    assert found[what].startswith(
        f"warning {newer} has schema 2 and was written by edged 9.4.0; this is edged {__version__}"
    )


def test_mistakes_of_a_config_are_reported_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("cameras: {demo: {sourse: x}}\nmodle: {}\n")

    done = edged_here("check", file)

    assert done.returncode == 2
    assert f"{file}:1:" in done.stdout
    assert f"{file}:2:" in done.stdout


def test_what_is_valid_beside_mistakes_is_checked_at_once(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "cameras: {door: {source: 'synthetic:digits', snapshot: true}, gate: {source: /nowhere.mp4}}\n"
        "model: {path: absent.onnx}\n"
        "workers: [{device: Voodoo}, {precision: int8}, {device: numpy}]\n"
        "metrics: {address: 9464}\n"
        "states: {door: {labels: [open]}}\n"
    )

    done = edged_here("check", file, "--json")

    found = json.loads(done.stdout)
    texts = {each["what"]: each["text"] for each in found["findings"]}
    mistaken = [each["text"].removeprefix(f"{file}:") for each in found["findings"] if each["what"] == "config"]
    assert [text.partition(": expected")[0] for text in mistaken] == [
        "1:56: cameras.door.snapshot",
        "3:41: workers.1.precision",
        "4:20: metrics.address",
    ]
    assert "no such file" in texts["model"]
    assert "does not exist" in texts["camera gate"]
    assert "'Voodoo'" in texts["worker 0"]
    assert texts["worker 2"] == "numpy: NumPy; runs the model (not tried without a model)"
    assert texts.keys().isdisjoint({"camera door", "worker 1", "metrics.address", "states door"})
    assert (done.returncode, found["errors"]) == (2, 4)


@pytest.mark.parametrize("section", ["model", "segments"])
def test_no_device_is_tried_with_another_model_than_the_file_says(tmp_path: Path, section: str) -> None:
    file = config_file(tmp_path, f"workers: [{{device: numpy}}]\n{section}: 3")

    done = edged_here("check", file)

    assert f"runs the model (not tried: a mistake in {section})" in done.stdout


@pytest.mark.parametrize("cameras", ["[]", "{a b: {source: 0}}", "{demo: {source: -1}}"])
def test_without_a_valid_camera_none_is_made_up(tmp_path: Path, cameras: str) -> None:
    done = edged_here("check", config_file(tmp_path, f"cameras: {cameras}\nworkers: [{{device: numpy}}]"))

    assert done.returncode == 2
    assert "error    config" in done.stdout
    assert "camera " not in done.stdout
    assert "NumPy; runs the model" in done.stdout


def test_the_secrets_of_notifications_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "notify: {url: 'https://ntfy.sh/secret', when: [camera], token_file: token}\n"
    _, absent = check(config_file(tmp_path, text), capsys, "--quick")
    (tmp_path / "token").write_text("tk")
    _, there = check(config_file(tmp_path, text), capsys, "--quick")
    assert absent["notify"].startswith("error")
    assert "token: cannot read this password file" in absent["notify"]
    assert there["notify"] == "ok https://ntfy.sh/…, for camera; nothing was sent"
