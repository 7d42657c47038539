"""What the hub notes down of its own work while somebody records."""

from edged.clock import now_ns
from edged.messages import Features, Frame, LinkMessage, Prediction, Scores
from edged.notebook import Notebook


def note_message(notebook: Notebook, message: LinkMessage, begun_ns: int) -> None:
    """A frame, or an answer, was taken in."""
    match message:
        case Frame(camera=camera, frame=number):
            notebook.note("frame", begun_ns, now_ns(), frames=((camera, number),))
        case Scores(job=job) | Features(job=job):
            notebook.note("answer", begun_ns, now_ns(), job=job)


def note_prediction(notebook: Notebook, prediction: Prediction, answered_ns: int) -> None:
    """It is ready; its stage `publish` has begun with the answer."""
    seconds = prediction.seconds
    ready_ns = answered_ns + round(seconds.publish * 1e9)
    frames = ((prediction.camera, prediction.frame),)
    notebook.note("publish", answered_ns, ready_ns, frames=frames, seq=prediction.seq, **dict(seconds))
