"""What who teaches is told of a frame that was answered."""

from edged.hub.frames.answers import Scored
from edged.hub.stream.prediction import labels_of
from edged.hub.teaching.lesson import Lesson
from edged.messages import Shadowed, Taught

FLOAT = 4  # bytes


def taught(scored: Scored, place: int) -> Taught | None:
    """Of frame number `place` of a job; None where its worker has not answered with features."""
    frame, values = scored.assigned.frames[place].frame, _size(scored) // FLOAT
    if not scored.assigned.features or not values or _size(scored) % FLOAT:
        return None
    return Taught(
        camera=frame.camera,
        frame=frame.frame,
        captured_at=frame.captured_at,
        width=frame.width,
        height=frame.height,
        features=values,
        top=labels_of(scored.scores.frames[place], scored.hello.model.labels),
        truth=frame.truth,
        version=scored.assigned.head,
    )


def features_of(scored: Scored, place: int) -> bytes:
    """Its features, as they came."""
    size = _size(scored)
    return bytes(scored.payloads[0].buffer[place * size : (place + 1) * size])


def shadowed(scored: Scored, place: int, lesson: Lesson) -> Shadowed | None:
    """Both answers; None where `lesson` has given none that it could give."""
    frame, labels, shadow = scored.assigned.frames[place].frame, lesson.version.labels, scored.scores.shadow
    if scored.assigned.shadow != lesson.sha256 or len(shadow) <= place:
        return None
    if any(score.index >= len(labels) for score in shadow[place]):
        return None
    return Shadowed(
        camera=frame.camera,
        frame=frame.frame,
        top=labels_of(scored.scores.frames[place], scored.hello.model.labels),
        shadow=labels_of(shadow[place], labels),
        truth=frame.truth,
    )


def _size(scored: Scored) -> int:
    """Bytes of a frame's features."""
    return len(scored.payloads[0]) // len(scored.assigned.frames) if scored.payloads else 0
