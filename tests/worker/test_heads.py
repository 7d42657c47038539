"""Heads that were taught answer from the features of a worker's own plan; each job says which one."""

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from edged import config
from edged.messages import HeadLoaded, Job, JobFailed, LoadHead, Scores, encode
from edged.model import reference
from edged.model.graph import Float32
from edged.model.head import Head, features_of
from edged.model.model_part import Images
from edged.model.package import Model, load_model
from tests.cli.models import SIZE, small_network
from tests.worker.hub_end import WorkerUnderTest, worker_process

FEATURES, HIDDEN, CLASSES = 8, 16, 3  # of the small network; of the heads
ONE, OTHER = "1" * 64, "2" * 64


def head(seed: int, features: int = FEATURES) -> Head:
    random = np.random.default_rng(seed)
    shapes = ((HIDDEN, features), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,))
    return Head(*(random.standard_normal(shape).astype(np.float32) for shape in shapes))


def pictures(count: int) -> Images:
    return np.random.default_rng(count).integers(0, 256, (count, SIZE, SIZE, 3), np.uint8)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load_model(config.ModelConfig(path=small_network(tmp_path_factory.mktemp("model") / "small.onnx")))


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerUnderTest]:
    """On NumPy, in batches of 4; it has said hello."""
    folder = tmp_path_factory.mktemp("worker")
    text = f"model: {{path: {small_network(folder / 'small.onnx')}}}\nworkers: [{{device: numpy, batch: 4}}]\n"
    with worker_process(folder, f"cameras: {{a: {{source: synthetic:digits}}}}\n{text}") as worker:
        worker.hello()
        yield worker


def features_by_the_reference(model: Model, images: Images) -> Float32:
    x = reference.prepare(images, model.input)
    return reference.run_all(model.graph, x)[features_of(model.graph).tensor]


def give(worker: WorkerUnderTest, version: str, taught: Head, base: str) -> HeadLoaded:
    """What the worker says of a head."""
    message = LoadHead(version=version, base=base, features=taught.features, hidden=HIDDEN, classes=CLASSES)
    worker.send(encode(message), taught.to_bytes())
    answer, _ = worker.says()
    assert isinstance(answer, HeadLoaded)
    return answer


def ask(worker: WorkerUnderTest, images: Images, **wants: object) -> tuple[Scores | JobFailed, list[bytes]]:
    job = msgspec.structs.replace(Job(job=1, frames=len(images), top=CLASSES, timeout_s=60), **wants)
    worker.send(encode(job), *[image.tobytes() for image in images])
    answer, payloads = worker.says()
    assert isinstance(answer, Scores | JobFailed)
    return answer, payloads


def shares_in(top: tuple[tuple[object, ...], ...]) -> Float32:
    """[frames, classes]."""
    shares = np.zeros((len(top), CLASSES), np.float32)
    for place, scores in enumerate(top):
        for score in scores:
            shares[place, score.index] = score.score  # type: ignore[attr-defined]
    return shares


def test_a_job_that_wants_features_gets_them_beside_its_scores(worker: WorkerUnderTest, model: Model) -> None:
    images = pictures(3)

    scores, payloads = ask(worker, images, features=True)

    assert isinstance(scores, Scores)
    assert len(scores.frames) == 3
    features = np.frombuffer(b"".join(payloads), "<f4").reshape(3, FEATURES)
    assert features == pytest.approx(features_by_the_reference(model, images), rel=1e-5)


def test_a_job_that_wants_none_gets_none(worker: WorkerUnderTest) -> None:
    scores, payloads = ask(worker, pictures(1))
    assert isinstance(scores, Scores)
    assert (scores.shadow, payloads) == ((), [])


def test_a_job_is_answered_by_the_head_that_it_names_and_by_another_one_in_its_shadow(
    worker: WorkerUnderTest, model: Model
) -> None:
    first, second, images = head(1), head(2), pictures(4)
    for version, taught in ((ONE, first), (OTHER, second)):
        assert give(worker, version, taught, model.sha256) == HeadLoaded(version=version)

    scores, _ = ask(worker, images, head=ONE, shadow=OTHER)

    assert isinstance(scores, Scores)
    features = features_by_the_reference(model, images)
    assert shares_in(scores.frames) == pytest.approx(first.shares(features), rel=1e-3, abs=1e-5)
    assert shares_in(scores.shadow) == pytest.approx(second.shares(features), rel=1e-3, abs=1e-5)


def test_the_model_itself_answers_the_next_job_that_names_no_head(worker: WorkerUnderTest, model: Model) -> None:
    give(worker, ONE, head(1), model.sha256)
    before, _ = ask(worker, pictures(1))
    taught, _ = ask(worker, pictures(1), head=ONE)
    after, _ = ask(worker, pictures(1))
    assert isinstance(before, Scores)
    assert isinstance(taught, Scores)
    assert isinstance(after, Scores)
    assert before.frames == after.frames != taught.frames


def test_a_head_that_does_not_fit_is_refused_with_the_reason(worker: WorkerUnderTest, model: Model) -> None:
    assert "for 9 features; the model here gives 8" in give(worker, ONE, head(1, 9), model.sha256).refused
    assert "it was taught to the model 333333333333" in give(worker, ONE, head(1), "3" * 64).refused
    broken = head(1)
    broken.bias[0] = np.nan
    assert "not finite" in give(worker, ONE, broken, model.sha256).refused


def test_a_job_for_a_head_that_was_never_taken_fails_alone(worker: WorkerUnderTest) -> None:
    failed, _ = ask(worker, pictures(1), head="4" * 64)
    assert isinstance(failed, JobFailed)
    assert "no head 444444444444 is loaded here" in failed.error
    assert isinstance(ask(worker, pictures(1))[0], Scores)
