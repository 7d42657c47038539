"""Run a command when a camera sees another state: `python examples/react_to_state.py CAMERA STATE COMMAND …`.

The camera needs a state in the config, as `states: {door: {labels: [open, closed]}}`. Set EDGED_ADDRESS for a hub
elsewhere.
"""

import os
import subprocess
import sys

from edged.client import Event, listen

if len(sys.argv) < 4:
    sys.exit(__doc__)
camera, state, *command = sys.argv[1:]
for message in listen(os.environ.get("EDGED_ADDRESS", "tcp://127.0.0.1:5570")):
    if isinstance(message, Event) and message.event == "state" and message.camera == camera:
        print(f"{camera}: {message.state}", flush=True)
        if message.state == state:
            subprocess.run(command, check=True)
