"""Every verb, as `--help` documents it."""

import argparse
import json
import logging
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from edged.cli import command_parser, run_command_line
from edged.cli.options import leaf_parsers
from edged.cli.verbs import VERBS
from edged.model.package import BUNDLED, RANDOM
from edged.system.log import LEVEL_VARIABLE
from tests.cli.command import edged
from tests.eventually import free_port

COMMANDS = {leaf.prog: leaf for leaf in leaf_parsers(command_parser())}
PRINT_NO_DATA = {
    "edged run",
    "edged demo",
    "edged bridge mqtt",
    "edged fleet agent",
    "edged bridge nats",
    "edged view",
    "edged completion",
    "edged camera",
    "edged worker",
}
IS_JSON = {"edged config schema"}


def options_of(command: str) -> dict[str, argparse.Action]:
    return {option: action for action in COMMANDS[command]._actions for option in action.option_strings}


CONTINUED = " \\\n      "  # of a command on two lines


def examples_of(parser: argparse.ArgumentParser) -> list[str]:
    title, *lines = (parser.epilog or "").replace(CONTINUED, " ").splitlines()
    assert title in {"example:", "examples:"}
    return [line.strip() for line in lines]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_ends_with_examples_that_parse(command: str) -> None:
    examples = examples_of(COMMANDS[command])
    assert any(example.startswith(command) for example in examples)
    assert COMMANDS[command].format_help().replace(CONTINUED, " ").rstrip().endswith(examples[-1])
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])
        arguments = command_parser().parse_args(words[1:])
        assert arguments.verb == words[1]
        model = str(getattr(arguments, "model", None) or "digits")
        assert model in BUNDLED + RANDOM or model.endswith((".onnx", ".yaml"))


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_is_printed_and_is_plain_text(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        run_command_line([verb, "--help"])
    assert exit_.value.code == 0
    assert f"edged {verb}" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_has_a_help_and_every_command_has_verbose_and_quiet(command: str) -> None:
    assert [action.dest for action in COMMANDS[command]._actions if not action.help] == []
    assert {"-v", "--verbose", "-q", "--quiet"} <= options_of(command).keys()


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - PRINT_NO_DATA - IS_JSON))
def test_a_command_that_prints_data_has_json(command: str) -> None:
    assert "--json" in options_of(command)


def test_an_option_takes_the_same_kind_of_value_in_every_command() -> None:
    values: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS:
        for option, action in options_of(command).items():
            kind = str(action.metavar).partition(".")[0] if action.nargs != 0 else "none"
            values[option].add(kind if kind != "FOLDER" else "FILE")  # --output: what the command writes
    assert {option: kinds for option, kinds in values.items() if len(kinds) > 1} == {}


def test_a_duration_is_called_so_in_every_command() -> None:
    times = {
        option
        for command in COMMANDS
        for option, action in options_of(command).items()
        if action.metavar == "TIME"
    }
    assert times == {"--duration", "--every", "--since", "--wait"}


def test_quiet_and_verbose_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["devices", "-q", "-v"]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "variable", "level"),
    [
        (["devices"], "", "WARNING"),
        (["devices"], "debug", "DEBUG"),
        (["devices", "-q"], "debug", "WARNING"),
        (["devices", "-v"], "", "DEBUG"),
        (["fleet", "agent", "absent.yaml"], "", "INFO"),  # it serves
        (["fleet", "agent", "absent.yaml"], "error", "ERROR"),
    ],
)
def test_the_level_of_the_log_is_that_of_option_or_variable(
    command: list[str], variable: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LEVEL_VARIABLE, variable)

    run_command_line(command)

    assert logging.getLevelName(logging.getLogger("edged").level) == level


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "--nope"], "unrecognized arguments: --nope; see `edged run --help`"),
        (["teach", "list", "edged.yaml", "more"], "unrecognized arguments: more; see `edged teach list --help`"),
        (["--nope", "run"], "unrecognized arguments: --nope; see `edged --help`"),
        (["--nope"], "the following arguments are required: VERB; see `edged --help`"),
        (["inspect"], "the following arguments are required: MODEL; see `edged inspect --help`"),
        (["predict", "a.png", "--device"], "--device: expected one argument; see `edged predict --help`"),
        (
            ["predict", "a.png", "--top", "x"],
            "--top: 'x' is not an integer of at least 1; see `edged predict --help`",
        ),
    ],
)
def test_a_wrong_command_line_is_one_line_that_names_its_help(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(argv) == 2

    assert capsys.readouterr().err == f"edged: {told}\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config that no edged on this machine runs, nor uses its ports."""
    ports = [free_port() for _ in range(3)]
    file = tmp_path / "edged.yaml"
    file.write_text(
        "cameras: {door: {source: 'synthetic:digits'}}\nworkers: [{device: numpy}]\n"
        f"publish: {{address: 'tcp://127.0.0.1:{ports[0]}', replay: 'tcp://127.0.0.1:{ports[1]}'}}\n"
        f"metrics: {{address: '127.0.0.1:{ports[2]}'}}\n"
    )
    return file


@pytest.mark.deep
def test_each_command_that_needs_no_daemon_prints_json_and_nothing_else(config: Path, tmp_path: Path) -> None:
    key = tmp_path / "alice.key"
    state = {"XDG_STATE_HOME": str(tmp_path)}
    for arguments in (
        ("devices", "--json"),
        ("check", config, "--json"),
        ("config", "schema"),
        ("keys", "new", "alice", "--output", tmp_path, "--json"),
        ("keys", "show", key, "--json"),
        ("teach", "list", config, "--json"),
        ("teach", "versions", config, "--json"),
        ("bench", "--device", "numpy", "--runs", "2", "--json"),
    ):
        done = edged(*arguments, env=state)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout), arguments


def test_the_findings_of_check_are_printed_as_json(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(config.read_text().replace("numpy", "no-such-device"))

    assert run_command_line(["check", str(config), "--json"]) == 2

    result = json.loads(capsys.readouterr().out)
    assert result["errors"] == 1
    assert [each["what"] for each in result["findings"] if each["level"] == "error"] == ["worker 0"]


@pytest.mark.parametrize("option", ["--json", "-q"])
def test_notes_are_on_standard_error_alone_and_not_with_quiet(option: str) -> None:
    done = edged("bench", "--device", "numpy", "--runs", "1", option)
    assert ("pictures are prepared" in done.stderr) == (option == "--json")
    assert "pictures are prepared" not in done.stdout


@pytest.mark.deep
def test_no_colour_is_printed_where_nobody_wants_any(config: Path, tmp_path: Path) -> None:
    environment = {"NO_COLOR": "1", "COLORTERM": "truecolor", "XDG_STATE_HOME": str(tmp_path)}
    for arguments in (("devices",), ("check", config), ("teach", "list", config)):
        assert "\x1b" not in edged(*arguments, env=environment).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_knows_all_verbs_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")

    assert run_command_line(["completion", shell]) == 0

    script = capsys.readouterr().out
    for word in (*VERBS, "record", "shadow", "server-name", "preprocess"):
        assert word in script, word


# As bash does it: the words and the number of the one at the cursor, then the function that `complete` names.
COMPLETE = r"""
source "$1"
complete_words() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    $(complete -p edged | sed 's/.*-F \([^ ]*\).*/\1/')
    echo "${COMPREPLY[@]}"
}
complete_words edged te
complete_words edged teach sh
complete_words edged trace --dur
"""


def test_bash_completes_verbs_actions_and_options(tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    script = tmp_path / "edged.bash"
    script.write_text(edged("completion", "bash").stdout)

    command = ["bash", "-c", COMPLETE, "bash", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.split() == ["teach", "shadow", "--duration"], done.stderr


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["demi"], "there is no command 'demi': did you mean `edged demo`? `edged --help` lists all"),
        (["--", "run"], "there is no command '--': `edged --help` lists all"),
        (["xyzzy"], "there is no command 'xyzzy': `edged --help` lists all"),
        ([], "edged demo"),  # the whole help, which ends with what to begin with
    ],
)
def test_a_newcomer_is_led_to_a_command(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(argv) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["zmq", "edged.errors", "edged.system.interruption"])
def test_half_an_installation_is_one_line_that_names_what_is_missing(missing: str) -> None:
    without = f"import sys; sys.modules['{missing}'] = None; from edged.__main__ import main; main()"

    command = [sys.executable, "-c", without, "subscribe"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith(f"edged: its package is damaged: import of {missing} halted")
    assert "Install it again" in done.stderr
    assert done.stderr.count("\n") == 1
