"""The camera process: it reads pictures, and sends frames in the model's input size to the hub."""

import os

# OpenCV reads these once, when it is loaded, and offers no other way to set them.
OPENCV_OPTIONS = {
    "OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT": "2",  # seconds; the default, 10, is too long to notice a dead camera
    "OPENCV_LOG_LEVEL": "SILENT",
    "OPENCV_IO_MAX_IMAGE_PIXELS": str(2**26),  # as decode.MOST_PIXELS, even if a header is misread
}

for _option, _value in OPENCV_OPTIONS.items():
    os.environ.setdefault(_option, _value)
