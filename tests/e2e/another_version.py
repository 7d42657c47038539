"""`edged` of an early version: its camera or worker greets the hub with less than the hub wants to know.

`python -m tests.e2e.another_version worker …`: a number for a protocol, and no version.
"""

import json
import sys

from edged.cli import run_command_line
from edged.messages import Greeting, LinkMessage, encode
from edged.transport import unix_hub_link, zmq_hub_link


def encode_as_before(message: LinkMessage) -> bytes:
    """The JSON header as it was then."""
    fields = json.loads(encode(message))
    if isinstance(message, Greeting):
        fields["protocol"] = 1
        del fields["edged"]
    return json.dumps(fields).encode()


if __name__ == "__main__":
    for link in (unix_hub_link, zmq_hub_link):
        setattr(link, "encode", encode_as_before)  # noqa: B010
    sys.exit(run_command_line(sys.argv[1:]))
