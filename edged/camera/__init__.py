"""The camera process: pictures in, frames of the size that the model wants out to the hub."""

import os

# OpenCV reads these once, when it is loaded, and has no other way to say them.
OPENCV_OPTIONS = {
    "OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT": "2",  # seconds; the default, 10, is too long to notice a dead camera
    # A lost UDP packet spoils pictures for seconds. Two pictures tell the rate; each more would be waited for.
    "OPENCV_FFMPEG_CAPTURE_OPTIONS": "rtsp_transport;tcp|fpsprobesize;2",
    "OPENCV_FFMPEG_LOGLEVEL": "-8",  # FFmpeg and OpenCV would print addresses with their passwords
    "OPENCV_LOG_LEVEL": "SILENT",
    "OPENCV_IO_MAX_IMAGE_PIXELS": str(2**26),  # as picture_file.MOST_PIXELS, whatever a decoder makes of a header
}

for _option, _value in OPENCV_OPTIONS.items():
    os.environ.setdefault(_option, _value)
