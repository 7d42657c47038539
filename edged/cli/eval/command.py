"""`edged eval`: how often a network is right on labelled pictures."""

import argparse
import json
import time
from pathlib import Path

from edged import config
from edged.cli.eval.report import EvalReport
from edged.cli.model_options import add_input_options, add_plan_options, given_model, show_preparation
from edged.cli.options import add_example, add_json, positive
from edged.cli.terminal import StatusLine, format_time, interrupt_on_sigterm, note, warn
from edged.errors import ConfigError, ImageError
from edged.evaluation.evaluate import evaluate
from edged.evaluation.kept_answers import KeptAnswers
from edged.evaluation.pictures import LabelledPictures, labelled_pictures
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.system.disk_cache import code_sha256
from edged.system.plain_text import printable_json, printable_lines
from edged.worker.proven import open_proven

BAR = 20
EVERY_S = 30.0  # between two lines of progress, without a terminal
REFRESH_S = 0.1


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
            progress.show(len(answers), sum(answer.is_right for answer in answers))
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


class Progress:
    """A bar with the share of right answers, the speed and the time left."""

    def __init__(self, begun_at: int, count: int) -> None:
        """`begun_at`: pictures that an interrupted run has answered."""
        self._begun_at, self._count = begun_at, count
        self._line = StatusLine(every_s=EVERY_S)
        self._start = self._shown_at = time.perf_counter()

    def show(self, done: int, right: int) -> None:
        """Show how far it is."""
        now = time.perf_counter()
        if now - self._shown_at < REFRESH_S:
            return
        self._shown_at = now
        bar = "#" * (BAR * done // self._count)
        rate = self.rate(done, now - self._start)
        left = format_time((self._count - done) / rate) if rate else "?"
        share = f"{100 * right / done:.1f} % right"
        self._line.show(f"[{bar:-<{BAR}}] {done}/{self._count}, {share}, {rate:.0f} pictures/s, {left} left")

    def rate(self, done: int, seconds: float) -> float:
        """Return the pictures a second of this run."""
        return (done - self._begun_at) / seconds if seconds else 0.0

    def clear(self) -> None:
        """Erase the bar."""
        self._line.clear()
