"""Classify the pictures of a folder without a daemon, as CSV: `python examples/classify_folder.py FOLDER [MODEL]`.

MODEL: an ONNX file, or a named model (default: digits).
"""

import csv
import sys
from pathlib import Path

import edged

SUFFIXES = {".jpg", ".jpeg", ".png"}
BATCH = 8

if len(sys.argv) < 2:
    sys.exit(__doc__)
pictures = sorted(each for each in Path(sys.argv[1]).iterdir() if each.suffix.lower() in SUFFIXES)
output = csv.writer(sys.stdout)
with edged.Model(sys.argv[2] if len(sys.argv) > 2 else "digits", batch=BATCH) as model:
    for picture, scores in zip(pictures, model(pictures), strict=True):
        best = model.top(scores, 1)[0]
        output.writerow([picture.name, best.label, f"{best.score:.4f}"])
