"""Print what happens on a node: its last events, then events and the state of each camera as they come.

`python examples/watch_node.py [ADDRESS]`
"""

import sys
import time

from edged.client import Event, Status, listen, recent_events

address = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5570"


def show(event: Event) -> None:
    """Print an event with its local time."""
    print(time.strftime("%H:%M:%S", time.localtime(event.at)), event.event, event.message, flush=True)


for event in recent_events(address):
    show(event)
for message in listen(address):
    match message:
        case Event():
            show(message)
        case Status():
            for name, camera in message.camera_states.items():
                print(f"{name}: {'up' if camera.up else 'down'}, {camera.predicted} predictions", flush=True)
