"""`shed_program.py FOLDER`: a camera that is a program, and writes Motion JPEG: FOLDER/picture again and again.

FOLDER/every holds the seconds from one to the next; each that was written whole is one more byte in FOLDER/sent.
"""

import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    picture = (folder / "picture").read_bytes()
    with (folder / "sent").open("ab", buffering=0) as sent:
        while True:
            sys.stdout.buffer.write(picture)
            sys.stdout.buffer.flush()
            sent.write(b".")
            time.sleep(float((folder / "every").read_text()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
