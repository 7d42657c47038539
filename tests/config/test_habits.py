"""What people write out of habit, from other tools: the error says what to write instead."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edged.config.habits import HABITS, Habit, habit_at
from edged.config.load import json_schema, load_config
from edged.config.validation_errors import PATTERNS
from edged.config.yaml_positions import read
from edged.errors import ConfigError

CAMERA = "cameras: {demo: {source: 'synthetic:digits'}}\n"

HABITUAL = [
    ("cameras: [{name: door, url: 'rtsp://h/1'}]", "cameras: {door: {source: rtsp://…}}"),
    ("cameras: {door: 'rtsp://h/1'}", "write source: before it"),
    ("cameras: {door: {url: 'rtsp://h/1'}}", "unknown key 'url'; write source:"),
    ("cameras: {door: {ffmpeg: {inputs: [{path: 'rtsp://h/1'}]}}}", "write the URL alone: source: rtsp://…"),
    ("cameras: {door: {source: 0, username: anna}}", "unknown key 'username'; write user:"),
    ("cameras: {door: {source: 0, password: geheim}}", "write password_file: FILE"),
    ("cameras: {door: {source: 0, resolution: 1280x720}}", "write size: [1280, 720]"),
    ("cameras: {door: {source: 0, resolution: hd}}", "write size: [WIDTH, HEIGHT]"),
    ("cameras: {door: {source: 0, width: 1280, height: 720}}", "write both as size: [WIDTH, HEIGHT]"),
    ("cameras: {door: {source: 0, framerate: 5}}", "unknown key 'framerate'; write fps:"),
    ("cameras: {door: {source: 0, detect: {fps: 5}}}", "size: [WIDTH, HEIGHT], max_fps"),
    ("cameras: {door: {source: 0, fps: '5'}}", "found '5'; write the number alone, without quotes: 5"),
    ("cameras: {door: {source: 0, roi: [0, 0, 640, 1]}}", "found 640; roi is in shares of the picture"),
    ("cameras: {door: {source: 0, zones: {a: []}}}", "write them beside cameras: states: {CAMERA: {zones: …}}"),
    ("cameras: {door: {source: 0, crop: [0, 0, 640, 480]}}", "write roi: [left, top, right, bottom]"),
    ("cameras: {door: {source: 0, snapshot: true}}", "found true; write snapshot: {}"),
    ("cameras: {door: {source: 0, snapshots: {enabled: true}}}", "write snapshot: {}"),
    ("cameras: {door: {source: a.mp4, loop: true}}", "unknown key 'loop'; write at_end: loop"),
    ("cameras: {door: {source: 0, enabled: false}}", "comment out one that shall be off"),
    ("cameras: {door: {source: 0, record: {enabled: true}}}", "unknown key 'record'; edged does not record"),
    ("model: nets/own.onnx", "found 'nets/own.onnx'; write model: {path: nets/own.onnx}"),
    ("model: digits", "found 'digits'; write model: {name: digits}, or path: before"),
    ("model: {weights: own.onnx}", "unknown key 'weights'; write path:"),
    ("model: {labels: [open, closed]}", "found a list; write labels: FILE, a text file with one label a line"),
    ("model: {labelmap_path: coco.txt}", "unknown key 'labelmap_path'; write labels: FILE"),
    ("model: {size: 224x224}", "found '224x224'; write size: [224, 224]"),
    ("model: {imgsz: 224}", "write size: [WIDTH, HEIGHT], or one number for a square"),
    ("model: {input_pixel_format: bgr}", "write color: rgb, bgr or gray"),
    ("detectors: {cpu1: {type: cpu}}", "unknown key 'detectors'; write workers: [{device: gpu}]"),
    ("workers: 4", "for threads write workers: [{device: cpu, threads: 4}]"),
    ("workers: cpu", "found 'cpu'; write workers: [{device: cpu}]"),
    ("workers: {device: gpu}", "write each worker as an entry of the list"),
    ("workers: [gpu]", "write device: before it"),
    ("workers: [{precision: int8}]", "found 'int8'; `edged quantize` makes an 8-bit file"),
    ("workers: [{precision: float16}]", "found 'float16'; write precision: fp16"),
    ("workers: [{precision: float32}]", "found 'float32'; write precision: fp32, or leave it out"),
    ("workers: [{precision: bfloat16}]", "found 'bfloat16'; write precision: bf16"),
    ("metrics: {address: 9464}", "found 9464; write address: 127.0.0.1:9464"),
    ("metrics: {port: 9464}", "unknown key 'port'; write address: 127.0.0.1:9464"),
    ("metrics: 9464", "found 9464; write metrics: {address: 127.0.0.1:9464}"),
    ("prometheus: true", "unknown key 'prometheus'; write metrics: {address: 127.0.0.1:9464}"),
    ("publish: {address: 5570}", "found 5570; write tcp://127.0.0.1:5570"),
    ("publish: {address: '127.0.0.1:5570'}", "found '127.0.0.1:5570'; write tcp://127.0.0.1:5570"),
    ("publish: {port: 5570}", "unknown key 'port'; write address: tcp://127.0.0.1:5570"),
    ("mqtt: broker.lan", "found 'broker.lan'; write mqtt: {address: mqtts://HOST}"),
    ("mqtt: {address: 'mqtt://anna:geheim@broker'}", "mqtt://127.0.0.1:1883; take user and password out of it"),
    ("nats: {servers: ['tls://anna:geheim@hub']}", "nats://127.0.0.1:4222; take user and password out of it"),
    ("mqtt: {address: 'broker.lan:1883'}", "write mqtts://broker.lan:1883, or mqtt://127.0.0.1:1883"),
    (
        "mqtt: {host: broker.lan, port: 1883}",
        "unknown key 'host'; host and port are one key: address: mqtts://HOST",
    ),
    ("mqtt: {address: 'mqtts://h', topic_prefix: home}", "unknown key 'topic_prefix'; write topic:"),
    ("nats: {url: 'nats://h'}", "unknown key 'url'; write servers: ['tls://HOST:4222']"),
    ("nats: tls://h", "found 'tls://h'; write nats: {servers: ['tls://HOST:4222']}"),
    ("view: {port: 8080}", "the page is a command of its own: `edged view --listen HOST:PORT`"),
    ("freshness: {max_age_s: 2 s}", "found '2 s'; write the number of seconds alone: 2"),
    ("freshness: {max_age_s: 500ms}", "found '500ms'; write seconds, such as 0.5"),
    ("states: {demo: [open, closed]}", "write labels: before it: {labels: [open, closed]}"),
    ("states: {demo: {zones: {a: '0.1,0.5,0.6,1'}}}", "write its corners: [[0.1, 0.5], [0.6, 0.5], [0.6, 1]]"),
    ("states: {demo: {zones: {a: [0.1, 0.5, 0.6, 1]}}}", "write its corners: [[0.1, 0.5], [0.6, 0.5], [0.6, 1]]"),
    ("states: {demo: {zones: {a: [[320, 0], [0, 0], [0, 1]]}}}", "found 320; corners are shares of the picture"),
    ("states: {demo: {present: {visitor: person}}}", "found 'person'; write {labels: [person]}"),
    ("states: {demo: {present: {visitor: {label: person}}}}", "unknown key 'label'; write labels: [person]"),
    ("journal: /var/lib/edged/j.sqlite", "write journal: {path: FILE}"),
    ("log: {level: debug}", "set it by the variable EDGED_LOG_LEVEL=debug, or `edged run --verbose`"),
    ("log: debug", "write log: {format: json}; the level is the variable EDGED_LOG_LEVEL=debug"),
    (
        "objects: {track: [person]}",
        "unknown key 'objects'; edged does not record; what a detector reports stands in model",
    ),
    ("logger: {default: info}", "unknown key 'logger'; write log:, or set the variable EDGED_LOG_LEVEL=debug"),
]


@pytest.mark.parametrize(("text", "expected"), HABITUAL)
def test_the_error_says_what_to_write_instead(tmp_path: Path, text: str, expected: str) -> None:
    error = error_of(tmp_path, text if text.startswith("cameras:") else f"{CAMERA}{text}\n")

    assert expected in error
    assert "geheim" not in error


def test_every_row_of_the_table_has_an_example() -> None:
    examples = [example for text, _ in HABITUAL for example in habits_in(text)]

    assert [row.keys for row in HABITS if row not in examples] == []


@pytest.mark.parametrize("text", ["cameras: {door: 'rtsp://anna:geheim@h/1'}", "mqtt: 'mqtt://anna:geheim@h'"])
def test_a_url_with_a_password_is_shown_nowhere(tmp_path: Path, text: str) -> None:
    assert "geheim" not in error_of(tmp_path, text)


def test_every_pattern_of_the_config_has_words() -> None:
    patterns = set(patterns_in(json.loads(json_schema())))

    assert patterns
    assert patterns <= set(PATTERNS)


@pytest.mark.parametrize("text", ["topic: 'a/#'", "discovery: '+'"])
def test_a_topic_with_wildcards_is_one_error(tmp_path: Path, text: str) -> None:
    error = error_of(tmp_path, f"{CAMERA}mqtt: {{address: 'mqtts://h', {text}}}\n")

    assert "expected a topic such as edged" in error


def error_of(folder: Path, text: str) -> str:
    """All that the ConfigError says of a file with this text."""
    file = folder / "edged.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    return str(raised.value)


def habits_in(text: str) -> Iterator[Habit | None]:
    """The habit at each place of a document."""
    document = read(text)
    for path in document.values:
        value: Any = document.value
        for part in path:
            value = value[part]
        yield habit_at(path, value)


def patterns_in(schema: Any) -> Iterator[str]:
    """The pattern of every text in a JSON Schema."""
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "pattern":
            yield value
        elif isinstance(value, dict | list):
            yield from patterns_in(value)
