"""Count the labels of the last hour from the journal: `python examples/last_hour.py [ADDRESS]`."""

import sys
import time
from collections import Counter

from edged.client import subscribe

address = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5570"
now = time.time()
labels: Counter[tuple[str, str]] = Counter()
for prediction in subscribe(address, since_s=3600, timeout_s=60):
    if prediction.published_at > now:
        break
    labels[prediction.camera, prediction.top[0].label] += 1
for (camera, label), count in labels.most_common():
    print(f"{camera}\t{label}\t{count}")
