"""A client that does what Frigate's `zmq` detector does: its requests, its time limits, zeros on any error."""

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import zmq
from numpy.typing import NDArray

TIMEOUT_MS, MODEL_TIMEOUT_MS = 200, 30_000  # Frigate's defaults
SHAPE = (20, 6)

Tensor = NDArray[np.uint8] | NDArray[np.float32]
Rows = NDArray[np.float32]


class FrigateClient:
    """Asks for the model first, sends it if it is not there, then one picture at a time.

    timeouts: how often no answer came in time. is_ready: as Frigate knows it, which never forgets.
    """

    def __init__(
        self, address: str, model: str = "net.onnx", *, data: bytes = b"", timeout_ms: int = TIMEOUT_MS
    ) -> None:
        """`data`: the file of the model, which is sent if it is not there."""
        self._address, self._model, self._data, self._timeout_ms = address, model, data, timeout_ms
        self.timeouts = 0
        self.is_ready = False
        self._socket = self._connected()
        self._initialize()

    def __enter__(self) -> "FrigateClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def detect(self, tensor: Tensor, model_type: str = "yolox") -> Rows:
        """The rows of the answer; zeros if there is none in time, or before the model was ready."""
        if not self.is_ready:
            return np.zeros(SHAPE, np.float32)
        header = {"shape": list(tensor.shape), "dtype": tensor.dtype.name, "model_type": model_type}
        try:
            return rows_in(self.request([json.dumps(header).encode(), tensor.tobytes()]))
        except zmq.Again:
            self.timeouts += 1
            self._socket.close()
            self._socket = self._connected()
            self._initialize()
            return np.zeros(SHAPE, np.float32)

    def request(self, parts: Sequence[bytes]) -> list[bytes]:
        """Send any parts; return those of the answer. Raises zmq.Again if none comes in time."""
        self._socket.send_multipart(parts)
        return self._socket.recv_multipart()

    def ask_for_model(self, name: str) -> dict[str, Any]:
        """The answer to the first request."""
        return self._patient([json.dumps({"model_request": True, "model_name": name}).encode()])

    def upload(self, name: str, data: bytes) -> dict[str, Any]:
        """The answer to a model that is sent."""
        return self._patient([json.dumps({"model_data": True, "model_name": name}).encode(), data])

    def _initialize(self) -> None:
        answer = self.ask_for_model(self._model)
        if answer["model_available"] and answer["model_loaded"]:
            self.is_ready = True
        elif not answer["model_available"] and self._data:
            answer = self.upload(self._model, self._data)
            self.is_ready |= answer["model_saved"] and answer["model_loaded"]

    def _patient(self, parts: Sequence[bytes]) -> dict[str, Any]:
        self._socket.send_multipart(parts)
        self._socket.setsockopt(zmq.RCVTIMEO, MODEL_TIMEOUT_MS)
        [answer] = self._socket.recv_multipart()
        self._socket.setsockopt(zmq.RCVTIMEO, self._timeout_ms)
        found: dict[str, Any] = json.loads(answer)
        return found

    def _connected(self) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.REQ)
        socket.setsockopt(zmq.RCVTIMEO, self._timeout_ms)
        socket.setsockopt(zmq.SNDTIMEO, self._timeout_ms)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(self._address)
        return socket


def rows_in(parts: Sequence[bytes]) -> Rows:
    """The numbers of an answer, by its header."""
    header, data = parts
    fields = json.loads(header)
    return np.frombuffer(data, np.dtype(fields["dtype"])).reshape(fields["shape"])
