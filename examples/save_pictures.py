"""Save the pictures that a node publishes: `python examples/save_pictures.py FOLDER [ADDRESS]`.

Its cameras need `snapshot: {}` in the config.
"""

import sys
from pathlib import Path

from edged.client import SnapshotPicture, listen

if len(sys.argv) < 2:
    sys.exit(__doc__)
folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
address = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:5570"
for message in listen(address, snapshots=True):
    if isinstance(message, SnapshotPicture):
        file = folder / f"{message.header.camera}-{message.header.frame:08}.jpg"
        file.write_bytes(message.jpeg)
        print(file, flush=True)
