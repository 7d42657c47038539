"""`edged VERB …`: find the verb, run it, turn an EdgedError into one message and an exit code."""

import sys

DAMAGED = (
    "edged: its package is damaged: {error}. Install it again: {python} -m pip install --force-reinstall with its "
    "wheel, or dpkg --install with its Debian package, of which `dpkg --verify edged` names the damaged files"
)


def main() -> int:
    """Entry point of the `edged` command. A module that cannot be imported is half an installation, no bug."""
    try:
        from edged.system.interruption import end_if_interrupted

        end_if_interrupted()
        from edged.cli import run_command_line

        return run_command_line(sys.argv[1:])
    except ImportError as error:
        sys.exit(DAMAGED.format(error=error, python=sys.executable))


if __name__ == "__main__":
    sys.exit(main())
