"""Send the model and the answer to each frame to cameras whose frames are requests of other programs."""

from edged.hub.frames.queues import Held
from edged.hub.links.peers import Links
from edged.messages import CameraHello, Frame, FrameAnswer, ModelInfo, Prediction, ServedModel


class FrameAnswers:
    """What is sent to `cameras`, those that wait for answers."""

    def __init__(self, links: Links) -> None:
        self.cameras: set[str] = set()
        self._links = links
        self._model: ServedModel | None = None

    def camera_started(self, hello: CameraHello) -> None:
        """Record whether a camera waits for answers; one that does gets the model, if it is known."""
        self.cameras.discard(hello.camera)
        if hello.awaits_answers:
            self.cameras.add(hello.camera)
            self._send_model(hello.camera)

    def serve(self, model: ModelInfo, *, ready: bool) -> None:
        """Send the model to all cameras that wait for answers, if it has changed. `ready`: workers serve."""
        served = ServedModel(
            name=model.name, sha256=model.sha256, labels=model.labels, task=model.task, ready=ready
        )
        if served == self._model:
            return
        self._model = served
        for camera in self.cameras:
            self._send_model(camera)

    def predicted(self, frame: Frame, prediction: Prediction) -> None:
        """Send the answer to a frame of one of `cameras`."""
        top, boxes = prediction.top, prediction.boxes
        self._send(
            frame.camera, FrameAnswer(frame=frame.frame, captured_at=frame.captured_at, top=top, boxes=boxes)
        )

    def dropped(self, held: Held, reason: str) -> None:
        """Send the reason for which a frame has no answer, if its camera waits for one."""
        frame = held.frame
        if frame.camera in self.cameras:
            self._send(frame.camera, FrameAnswer(frame=frame.frame, captured_at=frame.captured_at, dropped=reason))

    def _send(self, camera: str, answer: FrameAnswer) -> None:
        self._links.send(f"camera/{camera}", answer)

    def _send_model(self, camera: str) -> None:
        if self._model:
            self._links.send(f"camera/{camera}", self._model)
