"""What a person reads who made a mistake in the config, and what a right one means."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.config import CameraConfig, Config
from edged.config.camera import secret_in_url
from edged.config.load import load_config, password_of
from edged.errors import ConfigError

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a config file and returns its path."""

    def write_text(text: str) -> Path:
        path = tmp_path / "edged.yaml"
        path.write_text(text)
        return path

    return write_text


def mistakes(path: Path) -> list[str]:
    """The lines of the ConfigError, without the file's name."""
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    assert raised.value.exit_code == 2
    return [line.removeprefix(f"{path}:") for line in str(raised.value).splitlines()]


def mistake(path: Path) -> str:
    [line] = mistakes(path)
    return line


CAMERA = "cameras: {demo: {source: 'synthetic:digits'}}\n"


def test_everything_but_cameras_has_a_default(write: Write) -> None:
    config = load_config(write(CAMERA))
    assert config.model.name == "digits"
    assert [worker.device for worker in config.workers] == ["auto", "numpy"]
    assert config.publish.address == "tcp://127.0.0.1:5570"


def test_numpy_has_no_other_precision_than_fp32(write: Write) -> None:
    path = write(CAMERA + "workers: [{device: NumPy, precision: fp16}]\n")

    expected = "must be fp32 for device numpy, which supports no other: leave it out"
    assert mistake(path) == f"2:38: workers.0.precision: {expected}"


def test_five_mistakes_are_reported_at_once_in_the_order_of_the_file(write: Write) -> None:
    path = write(
        """\
cameras:
  door:
    source: 0
    max_fsp: 15
    roi: [0.9, 0, 0.1, 1]
model: {size: big}
workers: [{device: cpu, precision: fp64}]
metrics: {address: "0.0.0.0:9464"}
"""
    )
    first, *others = mistakes(path)
    assert first == f"{path} has 5 mistakes:"
    assert others == [
        "4:5: cameras.door: unknown key 'max_fsp'; did you mean 'max_fps'?",
        "5:10: cameras.door.roi: must be [left, top, right, bottom] with left < right and top < bottom",
        "6:15: model.size: expected a whole number or a list: [ … ], found 'big'",
        "7:36: workers.0.precision: expected 'fp32', 'fp16-weights', 'fp16' or 'bf16', found 'fp64'; "
        "did you mean 'fp16'?",
        "8:20: metrics.address: accepts any host: use 127.0.0.1, "
        "or add tls: with a client_ca, or insecure: true beside it",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: the file is empty; the least is: cameras: {demo: {source: 'synthetic:digits'}}"),
        ("- a\n- b\n", "1:1: this is not a mapping of keys to values; the least is: "),
        ("node: box\n", "1:1: the key 'cameras' is missing"),
        ("cameras: {}\n", "1:10: cameras: expected 1 or more entries"),
        ("cameras: {door: {}}\n", "1:17: cameras.door: the key 'source' is missing"),
        ("cameras:\n  door:\n", "2:3: cameras.door: expected keys and values below it, found nothing"),
        ("cameras: {a b: {source: 0}}\n", "1:11: cameras: 'a b': expected a name of letters, digits"),
        ("cameras: {a: {source: -1}}\n", "1:23: cameras.a.source: expected at least 0 or text"),
        ("cameras: {a: {source: true}}\n", "1:23: cameras.a.source: expected a whole number or text"),
        (
            "cameras: {a: {source: 'synthetic:dogs'}}\n",
            "1:23: cameras.a.source: synthetic cameras are syn",
        ),
        (
            "cameras: {a: {source: 'frigate:tcp://192.0.2.7:5555'}}\n",
            "1:23: cameras.a.source: frigate: requires an address that only this host reaches",
        ),
        (
            "cameras: {a: {source: 'frigate:tcp://127.0.0.1:5555', roi: [0, 0, 0.5, 1]}}\n",
            "1:60: cameras.a.roi: has no effect on requests",
        ),
        (
            "cameras: {a: {source: 0, answer_s: 1}}\n",
            "1:36: cameras.a.answer_s: is for a source of frigate: or requests: alone",
        ),
        (
            "cameras: {a: {source: 0, requests: {insecure: true}}}\n",
            "1:36: cameras.a.requests: is for a source of requests: alone",
        ),
        ("cameras: {a: {source: 'requests:8080'}}\n", "1:23: cameras.a.source: requests: requires host:port"),
        (
            "cameras: {a: {source: 'requests:127.0.0.1:0'}}\n",
            "1:23: cameras.a.source: requests: requires host:port",
        ),
        (
            "cameras: {a: {source: 'requests:0.0.0.0:8080', requests: {key_file: k}}}\n",
            "1:58: cameras.a.requests: requests:0.0.0.0:8080 accepts any host: use 127.0.0.1, or add tls",
        ),
        (
            "cameras: {a: {source: 'requests:*:8080'}}\n",
            "1:14: cameras.a: requests:*:8080 accepts any host",
        ),
        (
            "cameras: {a: {source: 'requests:127.0.0.1:8080', motion: 0.1}}\n",
            "1:58: cameras.a.motion: has no effect on requests",
        ),
        ("cameras: {a: {source: 'frigate:'}}\n", "1:23: cameras.a.source: frigate: requires an address"),
        ("cameras: {a: {source: 'ftp://x'}}\n", "1:23: cameras.a.source: a URL must start with one of: rtsp://"),
        (
            f"cameras: {{a: {{source: 'rtsp://{'://a:b' * 60_000}'}}}}\n",  # once took minutes
            "1:23: cameras.a.source: expected a whole number or text of at most 4096 characters",
        ),
        ("cameras: {a: {source: 0, roi: [0, 0, 1]}}\n", "1:31: cameras.a.roi: item 4 is missing"),
        ("cameras: {a: {source: 0, size: [1, 2, 3]}}\n", "1:32: cameras.a.size: expected 2 or fewer entries"),
        (
            "cameras: {a: {source: 0, size: 640x480}}\n",
            "1:32: cameras.a.size: expected a list: [ … ], found '640x480'",
        ),
        ("cameras: {a: {source: 0, fps: 0}}\n", "1:31: cameras.a.fps: expected more than 0.0, found 0"),
        ("cameras: {a: {source: 0, fps: '5'}}\n", "1:31: cameras.a.fps: expected a number, found '5'"),
        ("cameras: {a: {source: 0, fps: .inf}}\n", "1:31: cameras.a.fps: expected a finite number, found inf"),
        (CAMERA + "node: 12\n", "2:7: node: expected text, found 12: put it in quotes: '12'"),
        (CAMERA + "workers: []\n", "2:10: workers: expected 1 or more entries"),
        (CAMERA + "workers: cpu\n", "2:10: workers: expected a list: [ … ], found 'cpu'"),
        (CAMERA + "model: {size: [0, 32]}\n", "2:16: model.size.0: expected at least 1, found 0"),
        (CAMERA + "model: {name: digits, path: x.onnx}\n", "2:29: model.path: give name or path, not both"),
        (CAMERA + "publish: {address: '*:1'}\n", "2:20: publish.address: expected an address such as tcp://"),
        (
            CAMERA + "publish: {replay: tcp://127.0.0.1:99999}\n",
            "2:19: publish.replay: the port must be 1 to 65535",
        ),
        (CAMERA + "publish: {insecure: yes}\n", "2:21: publish.insecure: expected true or false, found 'yes'"),
        (
            CAMERA + "energy: {rails: 3}\n",
            "2:17: energy.rails: expected 'auto' or 'none' or a list: [ … ], found 3",
        ),
        (
            CAMERA + "workers: [{device: Mali, rails: [GPU]}]\nenergy: {rails: [BIG]}\n",
            "3:9: energy: must read GPU too, which rails of a worker names",
        ),
        (
            CAMERA + "journal: {max_wait_s: 3}\n",
            "2:10: journal: max_wait_s must be less than freshness.max_age_s, 0.5 s",
        ),
        (
            CAMERA + "energy: {idle_s: 300}\n",
            "2:9: energy: idle_s must be less than recovery.start_s, 300 s",
        ),
        (CAMERA + "metrics:\n", "2:1: metrics: expected keys and values below it, found nothing"),
        (CAMERA + "zzz: 1\n", "2:1: unknown key 'zzz'; expected one of: node, cameras, model"),
        (
            CAMERA + "security: {key: a, allow: [], huhn: b}\n",
            "2:31: security: unknown key 'huhn'; expected one of: key, allow, ",
        ),
        (
            CAMERA + "metrics: {tls: {key: a, certificate: b, clientca: c}}\n",
            "2:41: metrics.tls: unknown key 'clientca'; did you mean 'client_ca'?",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place_and_what_was_expected(
    write: Write, text: str, expected: str
) -> None:
    assert mistake(write(text)).startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cameras:\n\tdoor: 1\n", "2:1: a tab: YAML is indented with spaces"),
        ("cameras: {a: {source: 'x}}\n", "1:23: a quote that is never closed"),
        ("cameras: a: b\n", "1:11: a ':' where no key can be"),
        ("cameras: {a: {source: 0\n", "2:1: a '{' or '[' before this is not closed"),
        ("cameras: {a: {source: @x}}\n", "1:23: a text that starts with this character needs quotes"),
        ("cameras: [\x01]\n", "1:11: not text: character 0x1"),
        ('cameras: "\\UFFFFFFFF"\n', "not YAML: a number out of range"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document: there must be one alone"),
        ("a: *nowhere\n", "1:4: not YAML: found undefined alias 'nowhere'"),
        ("a: " + "[" * 100_000, "not YAML: nested more than 20 deep"),
        ("a: &a [*a]\n", "not YAML: nested more than 20 deep"),
        ("a: " + "{b: " * 5 + "[" + "1," * 20_000, "not YAML: more than 10000 values"),
        ("x: " + "y" * 1_000_000, "expected a config file of at most 1000000 bytes"),
    ],
)
def test_what_is_not_yaml_or_would_take_long_is_refused(write: Write, text: str, expected: str) -> None:
    assert expected in mistake(write(text))


def test_an_alias_that_multiplies_is_refused(write: Write) -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "more than 10000 values" in mistake(write("\n".join(lines)))


def test_a_key_that_stands_twice_is_refused_beside_the_other_mistakes(write: Write) -> None:
    _, twice, unknown = mistakes(write(CAMERA + CAMERA + "nodes: x\n"))
    assert twice == "2:1: cameras: this key is repeated (first in line 1): keep one"
    assert unknown == "3:1: unknown key 'nodes'; did you mean 'node'?"


def test_words_and_numbers_mean_what_they_look_like(write: Write) -> None:
    config = load_config(
        write(
            """\
node: no
cameras:
  off: {source: 010, motion: 1e-3, max_fps: 7}
  12: {source: 12:30}
"""
        )
    )
    assert config.node == "no"
    assert config.cameras["off"].source == 10
    assert config.cameras["off"].motion == 0.001
    assert str(config.cameras["12"].source).endswith("12:30")


def test_files_are_relative_to_the_config_and_other_sources_stay_as_they_are(write: Write, tmp_path: Path) -> None:
    config = load_config(
        write(
            """\
cameras:
  clip: {source: clips/a.mp4, password_file: secret}
  url: {source: "rtsp://host:554/x"}
  usb: {source: /dev/v4l/by-id/cam}
  index: {source: 1}
  digits: {source: "synthetic:digits"}
model: {path: ../net.onnx, labels: labels.txt}
journal: {path: journal.db}
"""
        )
    )
    assert [camera.source for camera in config.cameras.values()] == [
        str(tmp_path / "clips/a.mp4"),
        "rtsp://host:554/x",
        "/dev/v4l/by-id/cam",
        1,
        "synthetic:digits",
    ]
    assert config.cameras["clip"].password_file == tmp_path / "secret"
    assert config.model.path == tmp_path.parent / "net.onnx"
    assert config.model.labels == tmp_path / "labels.txt"
    assert config.journal.path == tmp_path / "journal.db"


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    assert mistake(tmp_path / "absent.yaml").endswith("cannot read this config file: No such file or directory")
    assert mistake(tmp_path).endswith("expected a config file, found a folder")
    assert mistake(tmp_path / "pipe").endswith("expected a config file, found no regular file")
    assert mistake(tmp_path / "latin.yaml").startswith("2: expected UTF-8 text")


def test_a_model_in_place_of_a_config_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"

    found = mistake(path)

    assert found.strip() == (
        "this is a model, expected a config file: name it there as model: {path: net.onnx}; "
        f"`edged inspect {path}` describes it"
    )


@pytest.mark.parametrize(
    "url",
    [
        "rtsp://me:s3cret@host/x",
        "rtsp://me:s3#cret@host",
        "http://:s3cret@host",
        "rtsp://me:s3?cret@host",
        "rtsp://me:s3/cret@h",
    ],
)
def test_a_password_in_a_source_is_refused_and_never_shown(write: Write, url: str) -> None:
    message = mistake(write(f"cameras: {{door: {{source: '{url}'}}}}\n"))
    assert "must not hold a password: use user and password_file" in message
    assert "cret" not in message


def test_a_port_that_cannot_be_is_not_shown_either(write: Write) -> None:
    message = mistake(write("cameras: {door: {source: 'rtsp://me:s3cret/x'}}"))
    assert "a URL must have a host and port that can be" in message
    assert "cret" not in message


def test_what_comes_after_the_host_of_a_url_is_no_password(write: Write) -> None:
    for url in (
        "rtsp://host:554/a@b",
        "rtsp://[fe80::1]:554/a@b",
        "rtsp://host:1?a@b",
        "rtsp://host/a:b@c",
        "rtsp://me@host:554/x",
    ):
        assert load_config(write(f"cameras: {{door: {{source: '{url}'}}}}")).cameras["door"].source == url


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ("source: 'http://h/x?p={password}'", "{password} in source requires password_file or password_env"),
        ("source: 'http://h/x?u={user}&p={password}', password_env: P", "{user} in source requires a user"),
    ],
)
def test_a_place_for_a_secret_requires_the_secret(write: Write, camera: str, message: str) -> None:
    assert message in mistake(write(f"cameras: {{door: {{{camera}}}}}\n"))


@pytest.mark.parametrize(
    ("url", "instead"),
    [
        ("rtsp://h/user=admin_password=s3cret_channel=1.sdp?real", "password={password}"),
        ("http://h/cgi?usr=me&pwd=s3cret", "pwd={password}"),
        ("http://h/x;Token=s3cret", "Token={password}"),
        ("http://h/x?p={password}&password={password}", None),
        ("rtsp://h/compass=north", None),
    ],
)
def test_a_secret_behind_the_host_of_a_url_is_noticed_and_never_shown(
    write: Write, url: str, instead: str | None
) -> None:
    camera = load_config(write(f"cameras: {{door: {{source: '{url}', password_env: P}}}}")).cameras["door"]
    found = secret_in_url(camera)
    assert found is None if instead is None else found and f"write {instead} there" in found
    assert "s3cret" not in (found or "")


def test_a_password_in_the_wrong_key_is_never_shown(write: Write) -> None:
    for key in ("password: s3cret", "user: [s3cret]", "password_env: {s3cret: 1}", "password_file: [s3cret]"):
        message = "".join(mistakes(write(f"cameras: {{door: {{source: 0, {key}}}}}\n")))
        assert "s3cret" not in message


def test_a_password_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    monkeypatch.setenv("DOOR", "hunter3")
    assert password_of(CameraConfig(source=0)) is None
    assert password_of(CameraConfig(source=0, password_file=secret)) == "hunter2"
    assert password_of(CameraConfig(source=0, password_env="DOOR")) == "hunter3"


def test_a_password_that_cannot_be_had_is_a_config_error(tmp_path: Path) -> None:
    two_lines = tmp_path / "two"
    two_lines.write_text("hunter2\nmore\n")
    with pytest.raises(ConfigError, match="cannot read this password file"):
        password_of(CameraConfig(source=0, password_file=tmp_path / "absent"))
    with pytest.raises(ConfigError, match="expected a password on one line") as raised:
        password_of(CameraConfig(source=0, password_file=two_lines))
    assert "hunter2" not in str(raised.value)
    with pytest.raises(ConfigError, match="the environment variable EDGED_ABSENT"):
        password_of(CameraConfig(source=0, password_env="EDGED_ABSENT"))


@pytest.mark.parametrize("source", ["synthetic:digits", "frigate:tcp://127.0.0.1:5555", "requests:127.0.0.1:8080"])
def test_a_config_with_all_its_defaults_is_that_config(source: str) -> None:
    config = Config(model={"name": "digits"}, cameras={"a": {"source": source}})

    assert Config.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    "settings",
    [
        "{source: 'requests:127.0.0.1:8080'}",
        "{source: 'requests:[::1]:8080', requests: {key_file: k}}",
        "{source: 'requests:0.0.0.0:8080', requests: {insecure: true}}",
        "{source: 'requests:0.0.0.0:8080', requests: {key_file: k, tls: {certificate: c, key: k}}}",
        "{source: 'requests:0.0.0.0:8080', requests: {tls: {certificate: c, key: k, client_ca: a}}}",
    ],
)
def test_requests_come_from_this_host_or_from_those_who_are_known(write: Write, settings: str) -> None:
    camera = load_config(write(f"cameras: {{a: {settings}}}\n")).cameras["a"]

    assert camera.serves_http
    assert str(camera.serves_at).endswith(":8080")
    assert camera.answers_within_s == 5


@pytest.mark.deep
@given(
    st.text(st.sampled_from("abc:-[]{}&*!|>'\"%@`#,? \n\t0123456789.~\x85\\x"), max_size=60) | st.text(max_size=40)
)
def test_no_text_whatever_brings_anything_but_a_config_or_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode("utf-8", "replace"))
    with contextlib.suppress(ConfigError):
        load_config(path)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"key{number}: 1\n" for number in range(4900)),
        "workers:\n" + "".join(f" - {number}\n" for number in range(4900)),
        f"cameras: {{a: {{source: 'rtsp://{':' * 500_000}'}}}}",
    ],
    ids=["unknown keys", "wrong items", "colons"],
)
def test_the_time_for_a_bad_file_grows_with_its_size_alone(write: Write, text: str) -> None:
    before = process_time()
    with pytest.raises(ConfigError):
        load_config(write(text))
    assert process_time() - before < 10  # the square of it would be far beyond
