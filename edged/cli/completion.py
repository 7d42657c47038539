"""`edged completion`: print a script that completes verbs and options in a shell."""

import argparse

from edged.cli import command_parser
from edged.cli.options import add_example
from edged.errors import ConfigError
from edged.system.python_packages import install_command

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to print a script for")
    add_example(
        parser,
        "edged completion bash > ~/.local/share/bash-completion/completions/edged",
        "edged completion zsh > ~/.zfunc/_edged",
        "edged completion fish > ~/.config/fish/completions/edged.fish",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script. Raises ConfigError if shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise ConfigError(f"edged completion needs shtab: {install_command('shtab')}") from None
    parser = command_parser()
    _complete_files(parser, shtab.FILE, shtab.DIRECTORY)
    print(shtab.complete(parser, arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Complete the arguments that name files and folders."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, file, folder)
        elif action.metavar == "FOLDER":
            action.complete = folder  # type: ignore[attr-defined]
        elif any(word in str(action.metavar) for word in ("FILE", "CONFIG", "PICTURE", ".key", ".pub", ".onnx")):
            action.complete = file  # type: ignore[attr-defined]
