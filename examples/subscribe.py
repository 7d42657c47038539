"""Print each prediction of a node, none left out: `python examples/subscribe.py [ADDRESS]`."""

import sys

from edged.client import subscribe

address = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5570"
for prediction in subscribe(address):
    best = prediction.top[0]
    print(prediction.seq, prediction.camera, best.label, f"{best.score:.0%}", flush=True)
