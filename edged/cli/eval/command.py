"""`edged eval`: how often a network is right on labelled pictures."""

import argparse
import json
import time
from pathlib import Path

from edged import config
from edged.cli.eval.report import EvalReport
from edged.cli.model_options import add_input_options, add_plan_options, given_model, show_preparation
from edged.cli.options import add_example, add_json, positive
from edged.cli.progress import Progress
from edged.cli.terminal import interrupt_on_sigterm, note, warn
from edged.errors import ConfigError, ImageError
from edged.evaluation.evaluate import evaluate
from edged.evaluation.kept_answers import KeptAnswers
from edged.evaluation.pictures import LabelledPictures, labelled_pictures
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.system.disk_cache import code_sha256
from edged.system.plain_text import printable_json, printable_lines
from edged.worker.proven import open_proven


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the data and the plan."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    data = (
        "a folder with a sub-folder of pictures for each label, or with IDX files as of MNIST; or the file of a "
        "list: a picture and its label or class index on each line, or CSV"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help=data)
    count = "evaluate at most N pictures, evenly spaced (default: all)"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    restart = "begin again, without the answers of an interrupted run with the same model, device and data"
    parser.add_argument("--restart", action="store_true", help=restart)
    add_plan_options(parser, device="device, as in the config, or numpy")
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    lists = "edged eval net.onnx --preprocess imagenet --labels imagenet.txt --data val.txt --batch 8"
    add_example(parser, "edged eval digits --data photos", lists)


def run(arguments: argparse.Namespace) -> int:
    """Print the figures; the exit code is that of an unreadable picture if there is one."""
    interrupt_on_sigterm()
    model = given_model(arguments)
    if model.random_weights:
        raise ConfigError(f"{model.name} has random weights: it is right by chance only; give an ONNX file")
    show_preparation(model)
    data = labelled_pictures(arguments.data, model.labels)
    if arguments.count:
        data = data.evenly_spaced(arguments.count)
    worker = config.WorkerConfig(device=arguments.device, batch=arguments.batch, precision=arguments.precision)
    runtime = open_proven(model, worker).runtime
    report = _evaluate(model, runtime, data, arguments)
    if arguments.json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)))
    else:
        print(printable_lines(report.as_text()))
    for picture, answer in report.unread():
        warn(f"not evaluated: {answer.problem or picture.name}")
    return ImageError.exit_code if report.figures.unread else 0


def _evaluate(
    model: Model, runtime: ModelRuntime, data: LabelledPictures, arguments: argparse.Namespace
) -> EvalReport:
    """Evaluate the pictures that an interrupted run has not reached; keep the answers meanwhile."""
    kept = KeptAnswers(_key(model, runtime, data, arguments))
    if arguments.restart:
        kept.restart()
    answers = kept.known[: len(data)]
    if answers:
        note(f"going on after the first {len(answers)} of {len(data)} pictures (--restart begins again)")
    start, progress = time.perf_counter(), Progress(len(answers), len(data))
    try:
        for more in evaluate(model, runtime, data.pictures[len(answers) :], arguments.batch):
            kept.append(more)
            answers += more
            right = sum(answer.is_right for answer in answers)
            progress.show(len(answers), f"{100 * right / len(answers):.1f} % right")
    except KeyboardInterrupt:
        note(f"stopped after {len(answers)} of {len(data)} pictures; the same command goes on there")
        raise
    else:
        kept.remove()
    finally:
        progress.clear()
        kept.close()
    rate = progress.rate(len(answers), time.perf_counter() - start)
    return EvalReport(model, runtime.device_name, arguments, data, answers, rate)


def _key(
    model: Model, runtime: ModelRuntime, data: LabelledPictures, arguments: argparse.Namespace
) -> list[object]:
    """Return everything that the answers depend on."""
    wanted = model.input
    prepared = [wanted.width, wanted.height, wanted.color, wanted.scale, wanted.mean, wanted.std, wanted.resize]
    code = [code_sha256(f"edged.{part}") for part in ("camera", "engine", "evaluation", "model")]
    plan = [runtime.device_name, getattr(runtime, "proof_key", ""), arguments.precision, arguments.batch]
    return [model.sha256, prepared, *plan, data.fingerprint, code]
