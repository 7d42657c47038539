"""`edged` of another version: its camera or worker says so when it greets the hub."""

import sys

from edged import hub_link
from edged.cli import run_command_line
from edged.messages import LinkMessage, encode

OURS, THEIRS = b'"protocol":1,', b'"protocol":2,'


def encode_as_another(message: LinkMessage) -> bytes:
    return encode(message).replace(OURS, THEIRS)


if __name__ == "__main__":
    setattr(hub_link, "encode", encode_as_another)  # noqa: B010
    sys.exit(run_command_line(sys.argv[1:]))
