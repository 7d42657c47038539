"""`edged eval`."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from edged import config
from edged.cli import run_command_line
from edged.errors import DataError
from edged.evaluation import evaluate as evaluation
from edged.evaluation.evaluate import evaluate
from edged.evaluation.pictures import LabelledPicture, labelled_pictures
from edged.model import reference
from edged.model.model_part import whole_model
from edged.model.package import load_model
from edged.pictures.decode import read_picture
from edged.pictures.prepare import fitted
from edged.runtime.select import open_runtime
from tests.cli import models
from tests.cli.command import DEVICES
from tests.evaluation.pictures import idx_files, picture
from tests.model.onnx_files import onnxruntime_outputs
from tests.model.score_tails import SIDE, logits, network_with

PREPARED = ["--scale", "1/255", "--mean", "0.1,0.2,0.3", "--std", "0.4,0.5,0.6"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def answers_of_onnxruntime(model: Path, pictures: list[Path]) -> list[int]:
    """Its first classes, of pictures prepared as in PREPARED."""
    rgb = np.stack([cv2.cvtColor(np.asarray(cv2.imread(str(each))), cv2.COLOR_BGR2RGB) for each in pictures])
    x = ((rgb / 255 - [0.1, 0.2, 0.3]) / [0.4, 0.5, 0.6]).astype(np.float32).transpose(0, 3, 1, 2)
    return [int(onnxruntime_outputs(model, each[None]).argmax()) for each in x]


def folders(tmp_path: Path) -> list[Path]:
    """20 pictures in the folders of four of the five classes."""
    return sorted(picture(tmp_path / "data" / str(seed % 4) / f"{seed}.png", seed) for seed in range(20))


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """What `edged eval --json` prints."""
    assert run_command_line(["eval", *map(str, arguments), "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("device", DEVICES)
def test_it_counts_what_onnxruntime_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    model, pictures = models.small_network(tmp_path / "model.onnx"), folders(tmp_path)
    answers = answers_of_onnxruntime(model, pictures)

    found = evaluated(capsys, model, "--data", tmp_path / "data", "--device", device, "--batch", "3", *PREPARED)

    truths = [int(each.parent.name) for each in pictures]
    counts = Counter(zip(truths, answers, strict=True))
    assert {(a, b): n for a, b, n in found["confusion"]} == counts
    assert found["pictures"] == 20
    assert found["top1"] == sum(counts[place, place] for place in range(5)) / 20
    assert found["top5"] == 1
    wrong = [str(each) for each, a, b in zip(pictures, truths, answers, strict=True) if a != b]
    assert {each["picture"] for each in found["worst"]} <= set(wrong)


def test_people_see_a_matrix_and_the_worst_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    folders(tmp_path)

    options = ["--data", str(tmp_path / "data"), "--device", "numpy", *PREPARED]
    assert run_command_line(["eval", str(model), *options]) == 0

    printed = capsys.readouterr().out
    assert "pictures        20 of" in printed
    assert "right label (rows), answer (columns)" in printed
    assert "error 0." in printed
    assert "first five" not in printed  # of five classes
    assert "wrong answers with the highest scores" in printed


def test_idx_files_are_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = models.small_network(tmp_path / "model.onnx", channels=1)
    images = np.random.default_rng(0).integers(0, 256, (6, 16, 16)).astype(np.uint8)
    x = (images / np.float32(255)).astype(np.float32)[:, None]
    answers = [int(onnxruntime_outputs(model, each[None]).argmax()) for each in x]
    data = idx_files(tmp_path / "mnist", images, answers)

    found = evaluated(capsys, model, "--data", data, "--device", "numpy", "--preprocess", "unit", "--batch", "4")

    assert (found["pictures"], found["top1"]) == (6, 1)


def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    folders(tmp_path)
    command = ["eval", str(model), "--data", str(tmp_path / "data"), "--device", "numpy", "--json", *PREPARED]
    assert run_command_line(command) == 0
    whole = json.loads(capsys.readouterr().out)
    read: list[str] = []
    frame_of = evaluation._prepared

    def interrupted_at_the_eighth(each: LabelledPicture, *others: Any) -> Any:
        read.append(each.name)
        if len(read) == 8:
            raise KeyboardInterrupt
        return frame_of(each, *others)

    monkeypatch.setattr(evaluation, "_prepared", interrupted_at_the_eighth)
    assert run_command_line(command) == 130
    assert "stopped after 6 of 20 pictures" in capsys.readouterr().err

    assert run_command_line(command) == 0

    printed = capsys.readouterr()
    assert "resuming after the first 6 of 20" in printed.err
    assert len(read) == 8 + 14
    assert json.loads(printed.out) | {"pictures_per_s": 0} == whole | {"pictures_per_s": 0}
    assert not list((tmp_path / "cache").rglob("*.jsonl"))


def test_an_unreadable_picture_is_reported_and_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    folders(tmp_path)
    (tmp_path / "data" / "3" / "bad.jpg").write_bytes(b"no picture")

    assert run_command_line(["eval", str(model), "--data", str(tmp_path / "data"), "--device", "numpy"]) == 2

    printed = capsys.readouterr()
    assert "bad.jpg is not a picture" in printed.err
    assert "pictures        20 of" in printed.out
    assert "not evaluated   1 picture that" in printed.out


@pytest.mark.parametrize(
    ("model", "problem"), [("squeezenet1_1", "random weights"), ("digits", "no such file or folder")]
)
def test_random_weights_and_absent_data_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, problem: str
) -> None:
    assert run_command_line(["eval", model, "--data", str(tmp_path / "nothing")]) == 2

    printed = capsys.readouterr()
    assert problem in printed.err
    assert printed.out == ""


REAL: dict[str, dict[str, Any]] = {
    "squeezenet_fp16": {"preprocess": "caffe", "mean": (104, 117, 123)},
    "resnet20_cifar10": {"preprocess": "imagenet", "resize": "crop", "size": 32},
    "resnet56_cifar10": {"preprocess": "imagenet", "resize": "crop", "size": 32},
    "resnet8_mlperf_tiny": {"preprocess": "raw", "resize": "crop"},
}


@pytest.mark.deep
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("device", DEVICES)
def test_real_networks_answer_as_in_onnxruntime(name: str, device: str, shared_data: Path) -> None:
    path = shared_data / "models" / f"{name}.onnx"
    model = load_model(config.ModelConfig.model_validate({"path": path, **REAL[name]}))
    pictures = labelled_pictures(shared_data / "photos" / "expected.csv", tuple(map(str, range(1000)))).pictures
    frames = np.stack([evaluation._prepared(each, model) for each in pictures])
    half = np.float16 if name.endswith("fp16") else np.float32
    x = reference.prepare(frames, model.input).astype(half)

    runtime = open_runtime(whole_model(model), config.WorkerConfig(device=device, batch=4))
    answers = [each for job in evaluate(model, runtime, pictures, 4) for each in job]

    expected = np.concatenate([onnxruntime_outputs(path, each[None]) for each in x]).astype(np.float32)
    assert [each.best for each in answers] == expected.argmax(1).tolist()
    shares = expected if abs(expected.sum(1) - 1).max() < 1e-2 else reference.softmax(expected)
    np.testing.assert_allclose([each.score for each in answers], shares.max(1), atol=5e-3)


def test_independent_labels_have_figures_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = network_with(
        tmp_path / "net.onnx",
        ("Sigmoid", ["l"], "y"),
        metadata={"edged.labels": json.dumps(list("abcde")), "edged.preprocess": "raw"},
    )
    model, listed = load_model(config.ModelConfig(path=net)), []
    for seed in range(6):
        path = picture(tmp_path / f"{seed}.png", seed=seed)
        there = np.flatnonzero(logits(fitted(read_picture(path), SIDE, SIDE)[None])[0] >= 0)
        listed.append(f"{path.name}\t{'|'.join(model.labels[place] for place in there) or '-'}")
    first, *others = listed
    (tmp_path / "val.txt").write_text("\n".join([first.partition("\t")[0] + "\t-", *others]))  # one is wrong

    code = run_command_line(["eval", str(net), "--data", str(tmp_path / "val.txt"), "--device", "numpy", "--json"])

    report = json.loads(capsys.readouterr().out)["by_label"]
    wrongly = len(first.partition("\t")[2].split("|"))
    assert code == 0
    assert report["all_right"] == 5
    assert (report["recall"], sum(each["wrongly"] for each in report["labels"])) == (1, wrongly)


def test_a_picture_without_a_label_is_refused_where_one_class_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture(tmp_path / "a.png")
    (tmp_path / "val.txt").write_text("a.png -")

    code = run_command_line(
        ["eval", str(models.small_network(tmp_path / "net.onnx")), "--data", str(tmp_path / "val.txt")]
    )

    assert code == DataError.exit_code
    assert "a.png: has no label (-), but one of" in capsys.readouterr().err
