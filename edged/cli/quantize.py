"""`edged quantize`: a network of floats as one of 8 bits."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edged import config
from edged.arithmetic import ceil_div
from edged.cli.cluster_options import require
from edged.cli.given_metadata import described
from edged.cli.model_options import given_keys, model_config
from edged.cli.options import add_example, positive
from edged.cli.pictures import LOSS, add_judged_options, judged_pictures, trained_model
from edged.errors import ConfigError
from edged.model.model_file import model_stem
from edged.model.package import Model, model_path
from edged.system.files import write_result
from edged.system.plain_text import counted, printable_json, printable_lines
from edged.system.terminal import StatusLine, note, warn

if TYPE_CHECKING:
    from edged.compress.judge import Judge, JudgedPictures
    from edged.model.from_onnx.file import OnnxFile
    from edged.quantization.box_judge import BoxFrames, BoxJudge
    from edged.quantization.search import Quantized

METHODS = ("minmax", "percentile", "entropy", "mse")
CALIBRATED = 100
LIVE = 300
BATCH = 16
LOSS_OF_BOXES = 1.0  # percentage points of mAP
COUNT_OF_BOXES = 500  # pictures: a detector's are large, and all of them are in memory
NOISIEST = 5  # layers that are printed
EVERY_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the pictures, the method, the limit and where to write."""
    limit = "layers stay in floats above this loss of accuracy, or of a detector's mAP"
    pictures = add_judged_options(parser, limit, f"{LOSS:g}; of mAP {LOSS_OF_BOXES:g}")
    parser.set_defaults(max_loss=None)  # depends on the network
    annotations = "of a detector: the boxes of the pictures in --data, found as by `edged eval`"
    parser.add_argument("--annotations", type=Path, metavar="FILE.json", help=annotations)
    camera = f"{LIVE} frames of this camera of the running daemon (or --count), as its network receives them"
    pictures.add_argument("--camera", metavar="NAME", help=camera)
    where = "the running daemon's config, for --camera (default: the demo's)"
    parser.add_argument("--config", type=Path, metavar="FILE", help=where)
    method = "how the range of a tensor is chosen (default: mse)"
    parser.add_argument("--method", choices=METHODS, default="mse", help=method)
    calibrate = f"calibrate with at most N of the pictures, evenly spaced (default: {CALIBRATED})"
    parser.add_argument("--calibrate", type=positive, default=CALIBRATED, metavar="N", help=calibrate)
    output = "the file to write (default: NAME-int8.onnx)"
    parser.add_argument("--output", type=Path, metavar="FILE.onnx", help=output)
    chart = "write a chart of the noise of each layer"
    parser.add_argument("--chart", type=Path, metavar="FILE.svg", help=chart)
    add_example(parser, "edged quantize net.onnx --data val --preprocess imagenet --max-loss 0.3")


def run(arguments: argparse.Namespace) -> int:
    """Quantize, write the file, and print what it costs."""
    model = trained_model(arguments)
    source = model_path(model_config(arguments))
    target: Path = arguments.output or Path(f"{model_stem(source)}-int8.onnx")
    if target.resolve() == source.resolve():
        raise ConfigError(f"--output {target}: is the original; give another name")
    from edged.model.from_onnx.file import read_file  # loads onnx

    file = described(read_file(source), given_keys(arguments), model.labels)
    allowed = _allowed_loss(model, arguments)
    judge, found = _quantize(model, file, arguments, allowed)
    write_result(target, found.content)
    note(f"wrote {target}")
    if arguments.chart:
        from edged.quantization.noise import noise_chart

        write_result(arguments.chart, noise_chart(target.name, found.layers).encode())
        note(f"wrote {arguments.chart}")
    report = _report(file, target, judge, found, "map" if model.detector else "accuracy")
    if arguments.json:
        print(printable_json(json.dumps(report, ensure_ascii=False)))
    else:
        print(printable_lines("\n".join(_lines(report))))
    lost = round(100 * (judge.accuracy - found.accuracy), 6)  # without the last digits of a difference
    if lost > allowed:
        warn(
            f"{lost:.2f} points are lost, more than --max-loss {allowed:g}: try another --method or more pictures"
        )
    return 0


def _allowed_loss(model: Model, arguments: argparse.Namespace) -> float:
    """Return the loss that is allowed, in percentage points."""
    if arguments.max_loss is not None:
        return float(arguments.max_loss)
    return LOSS_OF_BOXES if model.detector else LOSS


def _quantize(
    model: Model, file: "OnnxFile", arguments: argparse.Namespace, allowed: float
) -> "tuple[Judge | BoxJudge, Quantized]":
    line = StatusLine(every_s=EVERY_S)
    try:
        if model.detector:
            return _quantize_detector(model, file, arguments, allowed / 100, line)
        return _quantize_classifier(model, file, arguments, allowed / 100, line)
    finally:
        line.clear()


def _quantize_classifier(
    model: Model, file: "OnnxFile", arguments: argparse.Namespace, max_loss: float, line: StatusLine
) -> "tuple[Judge, Quantized]":
    from edged.quantization.calibration import Calibration
    from edged.quantization.search import quantize

    judge = _judge(model, arguments, line)
    step = ceil_div(len(judge.frames), arguments.calibrate)
    calibration = Calibration(model.input, judge.frames[::step], arguments.method)
    line.show(f"edged: calibrating with {counted(len(calibration.pictures), 'picture')}")
    size = model.input.width, model.input.height
    return judge, quantize(file, size, calibration, judge, max_loss, lambda text: line.show(f"edged: {text}"))


def _quantize_detector(
    model: Model, file: "OnnxFile", arguments: argparse.Namespace, max_loss: float, line: StatusLine
) -> "tuple[BoxJudge, Quantized]":
    """Quantize by some of the pictures, and judge by the others."""
    from edged.evaluation.mean_precision import PACKAGE
    from edged.quantization.box_judge import BoxJudge
    from edged.quantization.calibration import Calibration
    from edged.quantization.detectors import quantize_detector

    require(PACKAGE, "the mAP of a detector")
    calibrating, judging = _box_frames(model, arguments, line).divided(arguments.calibrate)
    if calibrating is judging:
        line.keep("one picture judges what is calibrated with it: give more of them")
    line.show(f"edged: judging {model.name} on {counted(len(judging.frames), 'picture')}")
    judge = BoxJudge(model, _worker(arguments), judging)
    line.show(
        f"edged: calibrating with {counted(len(calibrating.frames), 'picture')}, others than those that judge"
    )
    calibration = Calibration(model.input, calibrating.frames, arguments.method, is_detector=True)
    size = model.input.width, model.input.height
    return judge, quantize_detector(
        file, size, calibration, judge, max_loss, lambda text: line.show(f"edged: {text}")
    )


def _judge(model: Model, arguments: argparse.Namespace, line: StatusLine) -> "Judge":
    """Return what judges a classifier."""
    from edged.compress.judge import Judge

    if arguments.annotations:
        raise ConfigError(f"--annotations: are for detectors, and {model.name} is a classifier: give --data alone")
    pictures = _pictures(model, arguments, line)
    line.show(f"edged: judging {model.name} on {counted(len(pictures.frames), 'picture')}")
    return Judge(model, _worker(arguments), pictures)


def _worker(arguments: argparse.Namespace) -> config.WorkerConfig:
    return config.WorkerConfig(device=arguments.device, batch=BATCH)


def _box_frames(model: Model, arguments: argparse.Namespace, line: StatusLine) -> "BoxFrames":
    """Return the pictures that judge a detector: of a camera, or of files. Raises ConfigError, DataError."""
    from edged.evaluation.annotations import annotated_pictures, annotations_beside, plain_pictures
    from edged.quantization.box_judge import BoxFrames, box_frames

    if arguments.annotations and not arguments.data:
        raise ConfigError("--annotations: are of the pictures in --data FOLDER, which is missing")
    if arguments.camera:
        from edged.cli.samples import live_frames

        frames = live_frames(arguments.config, arguments.camera, model, arguments.count or LIVE, line)
        return BoxFrames(frames, [(model.input.width, model.input.height)] * len(frames))
    count = arguments.count or COUNT_OF_BOXES
    if arguments.images:
        return box_frames(plain_pictures(arguments.images, count), model)
    annotations = arguments.annotations or annotations_beside(arguments.data)
    if annotations is None:
        raise ConfigError(
            f"--data {arguments.data}: has no annotations: give --annotations FILE.json, or take --images FOLDER, "
            "where the boxes of the original count as right"
        )
    pictures = annotated_pictures(arguments.data, annotations, model.labels, count)
    if pictures.missing:
        line.keep(f"{counted(len(pictures.missing), 'picture')} of {annotations} are not in {arguments.data}")
    return box_frames(pictures, model)


def _pictures(model: Model, arguments: argparse.Namespace, line: StatusLine) -> "JudgedPictures":
    """Return the pictures that judge: of a camera, or of files."""
    if not arguments.camera:
        return judged_pictures(model, arguments)
    from edged.cli.samples import live_frames
    from edged.compress.judge import prepared

    count = arguments.count or LIVE
    return prepared(live_frames(arguments.config, arguments.camera, model, count, line))


def _report(
    file: "OnnxFile", target: Path, judge: "Judge | BoxJudge", found: "Quantized", measure: str
) -> dict[str, Any]:
    """Return the facts for JSON. `measure`: what is judged, accuracy or map."""
    return {
        "file": str(target),
        "bytes": [file.nbytes, target.stat().st_size],
        measure: [judge.accuracy, found.accuracy],
        "device": judge.device_name,
        "in_floats": list(found.in_floats),
        "whole_share": found.whole_share,
        "layers": [
            {
                "layer": each.layer,
                "quantized": each.is_quantized,
                "decibels": each.decibels,
                "own_decibels": each.own_decibels,
            }
            for each in found.layers
        ],
    }


def _lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield size and accuracy before and after, and the noisiest layers."""
    bytes_before, bytes_after = report["bytes"]
    yield f"{bytes_before:,} → {bytes_after:,} bytes, {bytes_before / bytes_after:.1f} times smaller"
    before, after = (100 * share for share in report.get("map") or report["accuracy"])
    judged = f"mAP {before:.2f} → {after:.2f} %" if "map" in report else f"{before:.2f} → {after:.2f} % right"
    yield f"{judged}, on {report['device']}"
    quantized = [each for each in report["layers"] if each["quantized"]]
    share = 100 * report["whole_share"]
    in_floats = f"; in floats: {', '.join(report['in_floats'])}" if report["in_floats"] else ""
    layers = f"{len(quantized)} of {len(report['layers'])} layers in whole numbers"
    yield f"{layers}, {share:.0f} % of the multiplications{in_floats}"
    yield "the noisiest of them:"
    for each in sorted(quantized, key=lambda each: float(each["own_decibels"]))[:NOISIEST]:
        yield f"  {each['own_decibels']:5.1f} dB, {each['decibels']:5.1f} dB with those before: {each['layer']}"
