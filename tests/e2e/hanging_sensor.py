"""`python -m tests.e2e.hanging_sensor`: H.264 on standard output, of a sensor that hangs and then lives again.

The encoder lives throughout, with a constant bit rate: no two pictures are the same.
"""

import sys
import time

import av
import numpy as np

from edged.pictures.prepare import Pixels

FPS, WIDTH, HEIGHT = 10, 320, 240
LIVES_S, HANGS_S = 3, 9


def scene(number: int) -> Pixels:
    """A pattern that moves, with the noise of a sensor."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    pattern = 100 + 60 * ((rows // 30 + (columns + 4 * number) // 40) % 2)
    noise = np.random.default_rng(number).normal(0, 4, (HEIGHT, WIDTH, 3))
    return np.asarray(np.clip(pattern[..., None] + noise, 0, 255), np.uint8)


def main() -> None:
    with av.open(sys.stdout.buffer, "w", format="mpegts") as output:
        options = {"preset": "ultrafast", "tune": "zerolatency", "nal-hrd": "cbr"}
        options |= {"maxrate": "500000", "bufsize": "500000"}
        stream = output.add_stream("libx264", rate=FPS, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.bit_rate, stream.gop_size = 500_000, FPS
        start = time.monotonic()
        for number in range(60 * FPS):
            hangs = LIVES_S * FPS <= number < (LIVES_S + HANGS_S) * FPS
            pixels = scene(LIVES_S * FPS if hangs else number)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
            time.sleep(max(0.0, start + number / FPS - time.monotonic()))


if __name__ == "__main__":
    main()
