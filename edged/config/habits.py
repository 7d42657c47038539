"""What people write in a config out of habit, from other tools, and what edged has for it.

A row of `HABITS` is read from left to right: where it was written, what was written there, what to write instead.
No row repeats a value that may be a secret.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from edged.config.yaml_positions import Path, Value

ANY, TEXT, A_LIST, TRUE = "(?s:.*)", r"[^\[{].*", r"\[.*", "true|yes|on"
PIXELS = r"(\d+) ?[x×*, ] ?(\d+)"
PORT = r"\d{1,5}"
A_FILE = r"(.*\.onnx(?:\.\w+)?|.*/.*)"
CORNERS = "write its corners: [[0.1, 0.5], [0.6, 0.5], [0.6, 1]], shares of the picture"
OF_A_RECORDER = "edged does not record; what a detector reports stands in model: take it out"


@dataclass(frozen=True)
class Habit:
    """A row: one thing that is written by habit.

    `keys`: keys, with `|` between alternatives and `*` for any text. `written`: a pattern of the whole value, as
    text. `instead`: what to do, with the groups of `written` as `{0}`, `{1}` …, and the value as `{value}`.
    """

    keys: str
    written: str
    instead: str


HABITS = (
    # cameras, as in Frigate, motionEye, go2rtc and OpenCV
    Habit("cameras", A_LIST, "a camera's name is its key: cameras: {{door: {{source: rtsp://…}}}}"),
    Habit("cameras.*", TEXT, "write source: before it: {{source: …}}"),
    Habit("cameras.*.url|uri|path|input|stream|device|rtsp|videodevice|netcam_url", ANY, "write source:"),
    Habit("cameras.*.ffmpeg|inputs", ANY, "write the URL alone: source: rtsp://…"),
    Habit("cameras.*|mqtt|nats.username|login", ANY, "write user:"),
    Habit(
        "cameras.*|mqtt|nats.password|pass|passwd|netcam_userpass",
        ANY,
        "write password_file: FILE, a file that holds the password alone",
    ),
    Habit("cameras.*.resolution|size", PIXELS, "write size: [{0}, {1}]"),
    Habit("cameras.*.resolution", ANY, "write size: [WIDTH, HEIGHT]"),
    Habit("cameras.*.width|height|frame_width|frame_height", ANY, "write both as size: [WIDTH, HEIGHT]"),
    Habit("cameras.*.framerate|frame_rate", ANY, "write fps:"),
    Habit("cameras.*.detect", ANY, "its keys stand in the camera itself: size: [WIDTH, HEIGHT], max_fps"),
    Habit("cameras.*.fps|max_fps", r"(\d+(?:\.\d+)?) ?(?:fps|Hz)?", "write the number alone, without quotes: {0}"),
    Habit("cameras.*.roi.*", r"\d+", "roi is in shares of the picture, not in pixels: 320 of 640 are 0.5"),
    Habit("cameras.*.zones", ANY, "write them beside cameras: states: {{CAMERA: {{zones: …}}}}"),
    Habit("cameras.*.crop|mask", ANY, "write roi: [left, top, right, bottom], shares of the picture"),
    Habit("cameras.*.snapshot", TRUE, "write snapshot: {{}}"),
    Habit("cameras.*.snapshots", ANY, "write snapshot: {{}}"),
    Habit("cameras.*.loop|repeat", ANY, "write at_end: loop"),
    Habit("cameras.*.enabled|enable", ANY, "every camera in the file is on: comment out one that shall be off"),
    Habit("cameras.*.record|objects|audio|live|review", ANY, OF_A_RECORDER),
    # the model, as in Frigate, ultralytics and onnxruntime
    Habit("model", A_FILE, "write model: {{path: {0}}}"),
    Habit("model", f"({TEXT})", "write model: {{name: {0}}}, or path: before the name of a file"),
    Habit("model.file|onnx|weights|model_path|filename", ANY, "write path:"),
    Habit("model.labels|classes|names", A_LIST, "write labels: FILE, a text file with one label a line"),
    Habit("model.labelmap|labelmap_path|labels_path|label_file|classes|names", ANY, "write labels: FILE"),
    Habit("model.size", PIXELS, "write size: [{0}, {1}]"),
    Habit("model.input_size|imgsz|width|height", ANY, "write size: [WIDTH, HEIGHT], or one number for a square"),
    Habit("model.input_pixel_format|channel_order", ANY, "write color: rgb, bgr or gray"),
    # workers, as in Frigate, PyTorch and TensorFlow
    Habit("detectors|device|accelerator|execution_providers", ANY, "write workers: [{{device: gpu}}]"),
    Habit(
        "workers", r"\d+", "workers are devices; for threads write workers: [{{device: cpu, threads: {value}}}]"
    ),
    Habit("workers", rf"({TEXT})", "write workers: [{{device: {0}}}]"),
    Habit("workers", r"\{.*", "write each worker as an entry of the list: workers: [{{device: gpu}}]"),
    Habit("workers.*", TEXT, "write device: before it: {{device: …}}"),
    Habit(
        "workers.*.precision",
        "u?int8|8",
        "`edged quantize` makes an 8-bit file of a network: name that in model.path, and leave precision out",
    ),
    Habit("workers.*.precision", "f16|float16|half|16", "write precision: fp16"),
    Habit("workers.*.precision", "f32|float32|float|full|32", "write precision: fp32, or leave it out"),
    Habit("workers.*.precision", "bfloat16", "write precision: bf16"),
    # addresses
    Habit("metrics.address", PORT, "write address: 127.0.0.1:{value}"),
    Habit("metrics.port|listen|bind|http_port", ANY, "write address: 127.0.0.1:9464"),
    Habit("metrics", PORT, "write metrics: {{address: 127.0.0.1:{value}}}"),
    Habit("prometheus", ANY, "write metrics: {{address: 127.0.0.1:9464}}"),
    Habit("publish|link.address|replay|bind", PORT, "write tcp://127.0.0.1:{value}"),
    Habit("publish|link.address|replay|bind", r"([\w.-]+:\d+)", "write tcp://{0}"),
    Habit("publish|link.port", ANY, "write address: tcp://127.0.0.1:5570"),
    Habit("mqtt", TEXT, "write mqtt: {{address: mqtts://HOST}}, or mqtt://127.0.0.1:1883 of this host"),
    Habit("mqtt.address", ".*@.*", "take user and password out of it: user:, and password_file: FILE"),
    Habit("nats.servers.*", ".*@.*", "take user and password out of it: user:, and password_file: FILE"),
    Habit("mqtt.address", r"((?:[\w-]+\.)*[\w-]+(?::\d+)?)", "write mqtts://{0}, or mqtt://127.0.0.1:1883"),
    Habit(
        "mqtt.host|hostname|server|broker|port|url|uri",
        ANY,
        "host and port are one key: address: mqtts://HOST:8883, or mqtt://127.0.0.1:1883 of this host",
    ),
    Habit("mqtt.topic_prefix|prefix|base_topic", ANY, "write topic:"),
    Habit("nats.url|server|host|address|port", ANY, "write servers: ['tls://HOST:4222']"),
    Habit("nats", TEXT, "write nats: {{servers: ['tls://HOST:4222']}}"),
    Habit("view.address|port|listen", ANY, "the page is a command of its own: `edged view --listen HOST:PORT`"),
    # the others
    Habit("*.*_s", r"(\d+(?:\.\d+)?) ?(?:s|sec|seconds?)?", "write the number of seconds alone: {0}"),
    Habit("*.*_s", r"\d.*", "write seconds, such as 0.5 for 500 ms or 120 for 2 minutes"),
    Habit("states.*", A_LIST, "write labels: before it: {{labels: [open, closed]}}"),
    Habit("states.*.zones.*", rf"{TEXT}|\{{.*", CORNERS),
    Habit("states.*.zones.*.*", r"[\d.].*", CORNERS),
    Habit(
        "states.*.zones.*.*.*", r"\d+(?:\.\d+)?", "corners are shares of the picture: 320 of 640 pixels are 0.5"
    ),
    Habit("states.*.present|count.*", f"({TEXT})", "write {{labels: [{0}]}}"),
    Habit("states.*.present|count.*.label|objects", ANY, "write labels: [person]"),
    Habit("journal", TEXT, "write journal: {{path: FILE}}"),
    Habit("log.level", ANY, "set it by the variable EDGED_LOG_LEVEL=debug, or `edged run --verbose`"),
    Habit("log", TEXT, "write log: {{format: json}}; the level is the variable EDGED_LOG_LEVEL=debug"),
    Habit("record|objects|detect|birdseye|go2rtc|review", ANY, OF_A_RECORDER),
    Habit("logger|logging|log_level", ANY, "write log:, or set the variable EDGED_LOG_LEVEL=debug for the level"),
)


def habit_at(path: Path, value: Value) -> Habit | None:
    """Return the first row for what is written at `path`."""
    written = _as_text(value)
    return next((each for each in HABITS if _is_at(each.keys, path) and _match(each, written)), None)


def instead_of(path: Path, value: Value) -> str:
    """Return what to write instead of what is written at `path`; empty if no habit is known."""
    habit = habit_at(path, value)
    found = habit and _match(habit, _as_text(value))
    return habit.instead.format(*found.groups(), value=_as_text(value)) if habit and found else ""


def _match(habit: Habit, written: str) -> re.Match[str] | None:
    return re.fullmatch(habit.written, written, re.IGNORECASE)


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)[:200]


def _is_at(keys: str, path: Path) -> bool:
    patterns = keys.split(".")
    return len(patterns) == len(path) and all(map(_is_key, patterns, path))


def _is_key(alternatives: str, key: str | int) -> bool:
    return any(fnmatchcase(str(key), each) for each in alternatives.split("|"))
