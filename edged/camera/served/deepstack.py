"""The protocol of DeepStack and CodeProject.AI, as values: forms with a picture, and the answers in JSON.

A form is `multipart/form-data` with the file `image`, and may have `min_confidence` and `api_key`. Boxes are in
whole pixels of the picture. Both servers have it; where they differ, an answer has the fields of both.
"""

from dataclasses import dataclass, field
from typing import Any

from python_multipart import FormParser, create_form_parser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File

from edged.camera.served.refusals import RefusedRequestError
from edged.camera.served.sent_pictures import AnsweredPicture

FORM = "multipart/form-data"
PICTURE = "image"
MOST_PARTS = 32


@dataclass(frozen=True)
class DetectionForm:
    """A picture, and which boxes its sender wants."""

    picture: bytes = field(repr=False)
    min_confidence: float
    key: str | None = field(repr=False)


def read_form(content_type: str, body: bytes, *, needs_picture: bool = True) -> DetectionForm:
    """Return the form in the body of a request. Raises RefusedRequestError."""
    fields, files = _parts(content_type, body) if body or needs_picture else ({}, {})
    picture = files.get(PICTURE) or next(iter(files.values()), b"")
    if needs_picture and not picture:
        raise RefusedRequestError("parts", f"expected a form with a file {PICTURE!r}")
    return DetectionForm(picture, _confidence(fields.get("min_confidence", "0")), fields.get("api_key"))


def _parts(content_type: str, body: bytes) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the fields and the files of a form by their names; a part that has no end is none of them."""
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}

    def add_field(part: Field) -> None:
        _refuse_if_many(fields, files)
        fields[(part.field_name or b"").decode(errors="replace")] = (part.value or b"").decode(errors="replace")

    def add_file(part: File) -> None:
        _refuse_if_many(fields, files)
        part.file_object.seek(0)
        files[(part.field_name or b"").decode(errors="replace")] = part.file_object.read()

    if not content_type.startswith(FORM):
        raise RefusedRequestError("parts", f"expected {FORM}, found {content_type[:40] or 'no Content-Type'!r}")
    try:
        parser = _parser(content_type, len(body), add_field, add_file)
        parser.write(body)
        parser.finalize()
        parser.close()
    except FormParserError as error:
        raise RefusedRequestError("parts", f"a form that cannot be read: {error}") from None
    return fields, files


def _parser(content_type: str, size: int, add_field: Any, add_file: Any) -> FormParser:
    in_memory = {"MAX_MEMORY_FILE_SIZE": size + 1}  # nothing is written to a disk
    return create_form_parser(
        {"Content-Type": content_type.encode("latin-1")}, add_field, add_file, config=in_memory
    )


def _refuse_if_many(fields: dict[str, str], files: dict[str, bytes]) -> None:
    if len(fields) + len(files) >= MOST_PARTS:
        raise RefusedRequestError("parts", f"expected a form of at most {MOST_PARTS} parts")


def _confidence(text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = -1.0
    if not 0 <= confidence <= 1:
        raise RefusedRequestError("values", f"expected min_confidence from 0 to 1, found {text[:20]!r}")
    return confidence


def detection(found: AnsweredPicture, min_confidence: float, seconds: float) -> dict[str, Any]:
    """Return the answer of a detector, the best box first. `seconds`: since the picture arrived."""
    predictions = [
        {
            "label": box.label,
            "confidence": box.score,
            **dict(zip(("x_min", "y_min", "x_max", "y_max"), map(round, found.pixels(box)), strict=True)),
        }
        for box in found.answer.boxes or ()
        if box.score >= min_confidence
    ]
    labels = ", ".join(dict.fromkeys(str(each["label"]) for each in predictions))
    return {
        "success": True,
        "message": f"Found {labels}" if predictions else "No objects found",
        "predictions": predictions,
        "count": len(predictions),
        **_times(seconds),
    }


def scene(found: AnsweredPicture, seconds: float) -> dict[str, Any]:
    """Return the answer of a classifier: its best label; none where no label reaches its threshold."""
    best = next(iter(found.answer.top), None)
    return {
        "success": True,
        "label": best.label if best else "",
        "confidence": best.score if best else 0.0,
        **_times(seconds),
    }


def failure(status: int, text: str) -> dict[str, Any]:
    """Return an error as both servers have it."""
    return {"success": False, "error": text, "code": status}


def _times(seconds: float) -> dict[str, Any]:
    return {"processMs": round(1000 * seconds), "duration": seconds, "code": 200}
