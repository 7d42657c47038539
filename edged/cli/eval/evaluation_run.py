"""Run `edged eval`: evaluate what an interrupted run has not reached, show the progress, and print the figures."""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from edged.cli.cluster_options import cluster_of, messages_of_ray, node_options, preparation_of, worker_config
from edged.cli.eval.report import EvalReport
from edged.cli.model_options import given_model, show_preparation
from edged.cli.terminal import Progress, note, warn
from edged.errors import ConfigError, ImageError
from edged.evaluation.evaluate import DeviceEvaluation
from edged.evaluation.figures import PictureAnswer
from edged.evaluation.kept_answers import KeptAnswers
from edged.evaluation.pictures import LabelledPicture, LabelledPictures, labelled_pictures
from edged.model.package import Model
from edged.system.disk_cache import code_sha256
from edged.system.paths import cache_directory
from edged.system.plain_text import printable_json, printable_lines
from edged.worker.proven import open_proven


class Evaluator(Protocol):
    """Who evaluates pictures: a device of this host, or a cluster. `device`: known once there are answers."""

    @property
    def device(self) -> str: ...
    @property
    def key(self) -> list[object]: ...
    def answers(self, pictures: Sequence[LabelledPicture]) -> Iterator[list[PictureAnswer]]: ...


def run_evaluation(arguments: argparse.Namespace) -> int:
    """Print the figures; return the exit code. Raises EdgedError, KeyboardInterrupt."""
    model = given_model(arguments)
    if model.random_weights:
        raise ConfigError(f"{model.name} has random weights: it is right by chance only; give an ONNX file")
    show_preparation(model)
    data = labelled_pictures(arguments.data.absolute() if arguments.ray else arguments.data, model.labels)
    if arguments.count:
        data = data.evenly_spaced(arguments.count)
    evaluation = _on_cluster(model, arguments) if arguments.ray else _here(model, arguments)
    with messages_of_ray(arguments, cache_directory() / "evaluations" / "ray.log"):
        report = _evaluate(model, evaluation, data, arguments)
    if arguments.json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)))
    else:
        print(printable_lines(report.as_text()))
    for picture, answer in report.unread():
        warn(f"not evaluated: {answer.problem or picture.name}")
    return ImageError.exit_code if report.figures.unread else 0


def _here(model: Model, arguments: argparse.Namespace) -> Evaluator:
    return DeviceEvaluation(model, open_proven(model, worker_config(arguments)).runtime, arguments.batch)


def _on_cluster(model: Model, arguments: argparse.Namespace) -> Evaluator:
    from edged.evaluation.cluster import ClusterEvaluation

    data = arguments.data.absolute()
    folder = data if data.is_dir() else data.parent
    return ClusterEvaluation(cluster_of(arguments), node_options(arguments, model, folder))


def _evaluate(
    model: Model, evaluation: Evaluator, data: LabelledPictures, arguments: argparse.Namespace
) -> EvalReport:
    """Evaluate the pictures that an interrupted run has not reached; keep the answers meanwhile."""
    kept = KeptAnswers(_key(model, evaluation, data, arguments))
    if arguments.restart:
        kept.restart()
    answers = kept.known[: len(data)]
    if answers:
        note(f"resuming after the first {len(answers)} of {len(data)} pictures (--restart starts over)")
    start, progress = time.perf_counter(), Progress(len(answers), len(data))
    try:
        for more in evaluation.answers(data.pictures[len(answers) :]):
            kept.append(more)
            answers += more
            right = sum(answer.is_right for answer in answers)
            progress.show(len(answers), f"{100 * right / len(answers):.1f} % right")
    except KeyboardInterrupt:
        note(f"stopped after {len(answers)} of {len(data)} pictures; the same command resumes there")
        raise
    else:
        kept.remove()
    finally:
        progress.clear()
        kept.close()
    rate = progress.rate(len(answers), time.perf_counter() - start)
    return EvalReport(model, evaluation.device, arguments, data, answers, rate)


def _key(
    model: Model, evaluation: Evaluator, data: LabelledPictures, arguments: argparse.Namespace
) -> list[object]:
    """Return everything that the answers depend on."""
    code = [code_sha256(f"edged.{part}") for part in ("camera", "engine", "evaluation", "model")]
    plan = [*evaluation.key, arguments.precision, arguments.batch]
    return [model.sha256, preparation_of(model.input), *plan, data.fingerprint, code]
