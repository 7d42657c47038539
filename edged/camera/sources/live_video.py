"""A live stream from the network, read and decoded by FFmpeg through PyAV."""

from collections import deque
from contextlib import suppress

import av
import numpy as np
from av.container import InputContainer
from av.packet import Packet
from av.stream import Stream
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from edged.camera.sources.source import NoPictureError
from edged.clock import now_ns, seconds_since
from edged.pictures.prepare import Pixels

USUAL_FPS = 25.0
STALL = 0.9  # share of the time-out
OPTIONS = {
    "analyzeduration": "2000000",  # µs in which the format is searched; FFmpeg's own is 5 s
    "fpsprobesize": "2",  # pictures that suffice to find the rate; more delay the start
}
RTSP = {
    "rtsp_transport": "tcp",  # a lost UDP packet spoils pictures for seconds
    "allowed_media_types": "video",  # sound that does not come must not delay the start
}
WITHOUT_TLS = {
    "protocol_whitelist": "tcp,udp,http,rtsp,rtp,crypto,data",  # FFmpeg's own TLS verifies nothing
    "http_proxy": "",  # the connection of a forwarder is a local one
}


class LiveVideo:
    """The pictures of a stream as they come. One thread decodes: each further one delays a picture."""

    def __init__(self, url: str, timeouts_s: tuple[float, float], *, allows_tls: bool = True) -> None:
        """`timeouts_s`: of each of the two steps of opening, and of a read. Raises NoPictureError."""
        self._input = _opened(url, timeouts_s, allows_tls=allows_tls)
        self._timeout_s = timeouts_s[1]
        self._packets = self._input.demux()
        self._decoded: deque[VideoFrame] = deque()
        self._reformatter = VideoReformatter()
        self._picture_ns = now_ns()
        try:
            self._stream = self._video()
            self._catch_up()
        except NoPictureError:
            self.close()
            raise

    def read(self) -> VideoFrame:
        """Return the next picture. Raises NoPictureError."""
        while not self._decoded:
            self._decode(self._next_packet())
            if not self._decoded and seconds_since(self._picture_ns) > self._timeout_s:
                raise NoPictureError(f"nothing that it sent for {self._timeout_s:g} s can be decoded")
        self._picture_ns = now_ns()
        return self._decoded.popleft()

    def pixels_of(self, frame: VideoFrame) -> Pixels:
        """Return a picture as uint8 [H, W, 3] RGB."""
        pixels = self._reformatter.reformat(frame, format="rgb24", threads=1).to_ndarray()
        return np.ascontiguousarray(pixels, np.uint8)

    def close(self) -> None:
        self._input.close()

    def _video(self) -> VideoStream:
        stream = next(iter(self._input.streams.video), None)
        if stream is None:
            raise NoPictureError("its stream holds no video")
        if stream.codec_context is None:
            raise NoPictureError("edged does not know its codec: set H.264 or H.265 in the camera")
        stream.thread_type = "NONE"
        return stream

    def _catch_up(self) -> None:
        """Skip pictures that were buffered while the format was searched, until a packet has to be waited for.

        FFmpeg's own option, `fflags=nobuffer`, also drops the first key frame, and with it all pictures until the
        next one: with key frames more than two seconds apart, that looks like a stall.
        """
        fps = float(self._stream.guessed_rate or 0)
        interval_s = 1 / (fps if 1 <= fps <= 120 else USUAL_FPS)
        start_ns = now_ns()
        while seconds_since(start_ns) < self._timeout_s:
            wait_ns = now_ns()
            packet = self._next_packet()
            has_waited = seconds_since(wait_ns) > interval_s / 2
            self._decoded.clear()
            self._decode(packet)
            if has_waited:
                return

    def _next_packet(self) -> "Packet[Stream]":
        """Return the next packet of the video; those of sound do not count as signs of life.

        After the time-out, FFmpeg returns what it holds of one more old picture, and never recovers. So a read
        that took nearly the whole time-out has failed, whatever it returns.
        """
        start_ns = now_ns()
        try:
            for packet in self._packets:
                if seconds_since(start_ns) > STALL * self._timeout_s:
                    break
                if packet.stream_index == self._stream.index and packet.size:
                    return packet
            else:
                raise NoPictureError("the other side closed the connection, or sends what cannot be decoded")
        except av.ExitError:
            pass  # PyAV's, after the time-out
        except av.FFmpegError as error:
            raise NoPictureError(f"it sends what cannot be decoded: {error.strerror}") from None
        raise NoPictureError(f"no picture for {self._timeout_s:g} s", "late")

    def _decode(self, packet: "Packet[Stream]") -> None:
        with suppress(av.FFmpegError):  # a damaged packet: the next ones may be whole
            self._decoded.extend(frame for frame in packet.decode() if isinstance(frame, VideoFrame))


def _opened(url: str, timeouts_s: tuple[float, float], *, allows_tls: bool) -> InputContainer:
    options = OPTIONS | (RTSP if url.lower().startswith("rtsp") else {}) | ({} if allows_tls else WITHOUT_TLS)
    try:
        return av.open(url, options=options, timeout=timeouts_s)
    except av.ExitError:
        raise NoPictureError(f"it sends nothing that is video for {timeouts_s[0]:g} s", "late") from None
    except av.HTTPUnauthorizedError:
        raise NoPictureError("its user or password is wrong (401)", "login") from None
    except (av.FFmpegError, ValueError) as error:
        raise NoPictureError(f"FFmpeg reports: {getattr(error, 'strerror', None) or error}") from None
