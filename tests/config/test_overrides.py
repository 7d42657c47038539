"""What overrides the config file: drop-ins beside it, environment variables, and `--set`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from edged.config import Config
from edged.config.load import ConfigSource, load_config, load_snapshot, save_config
from edged.config.overrides import is_override, override_of
from edged.errors import ConfigError
from edged.hub.children.command import ChildEnvironment

CAMERA = "cameras: {demo: {source: 'synthetic:digits'}}\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes edged.yaml and its drop-ins, by name, and returns the path of the first."""

    def write_files(text: str, **drop_ins: str) -> Path:
        path = tmp_path / "edged.yaml"
        path.write_text(text)
        (tmp_path / "edged.d").mkdir(exist_ok=True)
        for name, content in drop_ins.items():
            (tmp_path / "edged.d" / f"{name}.yaml").write_text(content)
        return path

    return write_files


def refused(path: Path, *settings: str) -> str:
    """The ConfigError, with files named as seen from the config's folder."""
    with pytest.raises(ConfigError) as raised:
        load_config(path, [override_of(each) for each in settings])
    return str(raised.value).replace(f"{path.parent}/", "")


def test_drop_ins_are_merged_key_by_key_in_order_of_name(write: Write) -> None:
    path = write(
        CAMERA + "publish: {top: 2, address: 'tcp://127.0.0.1:7000'}\n",
        b="cameras: {back: {source: 1}}\n",
        a="cameras: {front: {source: 0}, demo: {max_fps: 5}}\npublish: {top: 3}\n",
    )

    config = load_config(path)

    assert list(config.cameras) == ["demo", "front", "back"]
    assert config.cameras["demo"].max_fps == 5
    assert config.publish.top == 3
    assert config.publish.address == "tcp://127.0.0.1:7000"


def test_a_list_of_a_drop_in_replaces_that_of_the_file(write: Write) -> None:
    path = write(CAMERA + "workers: [{device: auto}, {device: numpy}]\n", a="workers: [{device: cpu}]")
    assert [worker.device for worker in load_config(path).workers] == ["cpu"]


def test_a_file_that_is_empty_but_for_its_drop_ins(write: Write) -> None:
    assert list(load_config(write("", a=CAMERA)).cameras) == ["demo"]


def test_relative_paths_of_all_sources_begin_at_the_folder_of_the_file(write: Write, tmp_path: Path) -> None:
    path = write(CAMERA, a="journal: {path: here.sqlite}")
    assert load_config(path).journal.path == tmp_path / "here.sqlite"


def test_drop_ins_that_contradict_each_other_are_refused(write: Write) -> None:
    path = write(CAMERA, a="publish: {top: 3}", b="publish:\n  top: 4")
    expected = "contradicts edged.d/a.yaml:1, which sets another value: remove one of the two"
    assert refused(path) == f"edged.d/b.yaml:2:8: publish.top: {expected}"


def test_drop_ins_may_say_the_same(write: Write) -> None:
    assert load_config(write(CAMERA, a="publish: {top: 3}", b="publish: {top: 3}")).publish.top == 3


def test_a_section_and_its_removal_contradict_each_other(write: Write) -> None:
    removal, section = "mqtt: null", "mqtt: {address: mqtt://127.0.0.1}"
    assert "contradicts edged.d/a.yaml:1" in refused(write(CAMERA, a=removal, b=section))
    assert "contradicts edged.d/a.yaml:1" in refused(write(CAMERA, a=section, b=removal))


def test_other_files_beside_drop_ins_are_left_alone(write: Write) -> None:
    path = write(CAMERA)
    for name in (".hidden.yaml", "10.yaml.bak", "README"):
        (path.parent / "edged.d" / name).write_text("publish: {top: 3}")
    assert load_config(path).publish.top == 5


def test_a_drop_in_by_a_similar_name_is_not_left_out_silently(write: Write) -> None:
    path = write(CAMERA)
    (path.parent / "edged.d/site.yml").write_text("publish: {top: 3}")
    assert refused(path) == "edged.d/site.yml: drop-ins end in .yaml: rename this file"


def test_a_file_in_place_of_the_folder_of_drop_ins(tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text(CAMERA)
    (tmp_path / "gate.d").write_text("")
    assert refused(path) == "gate.d: expected a folder of drop-ins: Not a directory"


def test_mistakes_name_the_drop_in_with_its_line(write: Write) -> None:
    path = write(CAMERA + "node: 5\n", a="publish:\n  tip: 3", b="cameras: [", c="- 1")
    lines = refused(path).splitlines()
    assert lines[0] == "edged.yaml has 4 mistakes:"
    assert lines[1].startswith("edged.yaml:2:7: node: expected text, found 5")
    assert lines[2] == "edged.d/a.yaml:2:3: publish: unknown key 'tip'; did you mean 'top'?"
    assert lines[3].startswith("edged.d/b.yaml:1:11: ")
    assert lines[4] == "edged.d/c.yaml:1:1: this is not a mapping of keys to values"


def test_variables_prevail_over_drop_ins_and_set_over_variables(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(CAMERA, a="publish: {top: 3}")
    monkeypatch.setenv("EDGED_PUBLISH__TOP", "4")
    assert load_config(path).publish.top == 4
    assert load_config(path, [override_of("publish.top=5")]).publish.top == 5


def test_a_variable_names_a_camera_whatever_its_case_and_punctuation(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("cameras: {Front-Door: {source: 0}}\n")
    monkeypatch.setenv("EDGED_CAMERAS__FRONT_DOOR__MAX_FPS", "2.5")
    monkeypatch.setenv("EDGED_CAMERAS__back__SOURCE", "1")
    monkeypatch.setenv("EDGED_NODE", "board-7")

    config = load_config(path)

    assert config.cameras["Front-Door"].max_fps == 2.5
    assert config.cameras["back"].source == 1
    assert config.node == "board-7"


def test_set_enters_lists_by_index_and_names_with_dots(write: Write) -> None:
    path = write("cameras: {yard.2: {source: 0}}\nworkers: [{device: auto}, {device: numpy}]\n")
    settings = ["workers.0.device=cpu", "cameras.yard.2.source=3", "freshness={max_age_s: 0.5}"]

    config = load_config(path, [override_of(each) for each in settings])

    assert [worker.device for worker in config.workers] == ["cpu", "numpy"]
    assert config.cameras["yard.2"].source == 3
    assert config.freshness.max_age_s == 0.5


def test_a_section_that_a_file_leaves_out_is_added(write: Write) -> None:
    path = write(CAMERA + "mqtt: null\n")
    config = load_config(path, [override_of("mqtt.address=mqtt://127.0.0.1")])
    assert config.mqtt is not None


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("publish.top=many", "--set publish.top: publish.top: expected a whole number, found 'many'"),
        ("publich.top=1", "--set publich.top: unknown key 'publich'; did you mean 'publish'?"),
        ("publish.tip=1", "--set publish.tip: publish: unknown key 'tip'; did you mean 'top'?"),
        ("workers.2.device=cpu", "--set workers.2.device: workers: there is no entry 2: this list has 1 entry"),
        ("publish.top=[", "--set publish.top: publish.top: not YAML: "),
        ("workers.0=cpu", "--set workers.0: workers.0: expected keys and values below it, found 'cpu'"),
    ],
)
def test_mistakes_name_the_setting(write: Write, setting: str, expected: str) -> None:
    assert refused(write(CAMERA + "workers: [{device: cpu}]\n"), setting).startswith(expected)


def test_mistakes_name_the_variable(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGED_METRICS__ADRESS", "127.0.0.1:1")
    expected = "EDGED_METRICS__ADRESS: metrics: unknown key 'adress'; did you mean 'address'?"
    assert refused(write(CAMERA)) == expected


def test_a_password_in_an_override_is_in_no_message(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGED_CAMERAS__DEMO__SOURCE", "rtsp://user:hunter2@10.0.0.2/")
    assert "EDGED_CAMERAS__DEMO__SOURCE: cameras.demo.source" in refused(write(CAMERA))
    assert "hunter2" not in refused(write(CAMERA), "cameras.demo.user=hunter2: x")


@pytest.mark.parametrize("name", ["EDGED_LOG_LEVEL", "EDGED_LOG_FORMAT", "EDGED_HUB_PID", "HOME", "EDGED_A_"])
def test_other_variables_keep_their_meaning(name: str) -> None:
    assert not is_override(name)


@pytest.mark.parametrize("text", ["publish.top", "=5", "publish..top=5"])
def test_set_requires_a_key_and_a_value(text: str) -> None:
    with pytest.raises(ValueError, match="expected KEY=VALUE"):
        override_of(text)


def test_children_see_the_config_of_the_hub(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(CAMERA, a="publish: {top: 3}")
    monkeypatch.setenv("EDGED_NODE", "board-7")
    config = load_config(path, [override_of("publish.top=9")])
    save_config(config, tmp_path / "config.json")

    environment = ChildEnvironment(config).of_worker()
    monkeypatch.setenv("EDGED_NODE", "another")

    assert load_snapshot(tmp_path / "config.json") == config
    assert "EDGED_NODE" not in environment
    assert environment["PATH"] == os.environ["PATH"]


def test_a_source_names_what_the_config_is_from(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(CAMERA, a="{}", b="{}")
    monkeypatch.setenv("EDGED_NODE", "board-7")
    source = ConfigSource(path, (override_of("publish.top=9"),))
    names = [name.replace(f"{path.parent}/", "") for name in source.names()]
    assert names == ["edged.yaml", "edged.d/a.yaml", "edged.d/b.yaml", "EDGED_NODE", "--set publish.top"]
    assert isinstance(source.load(), Config)
