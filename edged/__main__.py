"""`edged VERB …`: find the verb, run it, turn an EdgedError into one message and an exit code."""

import sys

from edged.cli import run_command_line


def main() -> int:
    """Entry point of the `edged` command."""
    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
