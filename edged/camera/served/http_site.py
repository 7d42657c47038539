"""What programs ask for over HTTP: the paths of both protocols, who may ask, and how much they may send."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from edged.camera.served.deepstack import DetectionForm, detection, failure, read_form, scene
from edged.camera.served.open_inference import (
    JSON_LENGTH,
    inference_answer,
    model_metadata,
    read_inference,
    server_metadata,
)
from edged.camera.served.refusals import RefusedRequestError, RequestRefusals
from edged.camera.served.sent_pictures import AnsweredPicture, NoAnswerError, SentPicture
from edged.clock import now_ns, seconds_since
from edged.messages import ServedModel
from edged.messages.detection import Task
from edged.web.limits import PasswordThrottle, network_of

MOST_BYTES = 1 << 24  # of a request
MOST_HELD = 1 << 26  # bytes of all requests that are not answered yet
BODY_S = 10.0  # in which a request must be here
STATUS = {  # of HTTP, by the reason of a refusal; all others: 400
    "key": 401,
    "upload": 403,
    "path": 404,
    "model": 404,
    "unfinished": 408,
    "too_large": 413,
    "guessing": 429,
    "busy": 503,
}
INSTEAD: Mapping[Task, str] = {
    "detect": "detector: ask /v1/vision/detection",
    "classify": "classifier: ask /v1/vision/scene",
}
WHY = {  # there is no answer
    "no_model": "no worker has loaded the model yet",
    "late": "no worker answered it within answer_s of the camera",
    "superseded": "newer requests took its place: send fewer at once",
    "stale": "it was older than freshness.max_age_s",
    "shutdown": "edged ends",
}
OF_THE_DEVICE = {"device_error", "not_finite"}  # another try would not help
PATHS = (
    "there are /v1/vision/detection, /v1/vision/scene, /v1/vision/custom/NAME, /v2, /v2/health/live, "
    "/v2/health/ready, /v2/models/NAME, /v2/models/NAME/ready and /v2/models/NAME/infer"
)


class RequestSite:
    """Answers requests. `model`: that serves, None: not known yet; its owner keeps it up to date."""

    def __init__(
        self, submit: Callable[[SentPicture], Future[AnsweredPicture]], key: str | None, refusals: RequestRefusals
    ) -> None:
        """`submit`: to have a picture computed. `key`: that requests must have; None: they need none."""
        self.model: ServedModel | None = None
        self._submit = submit
        self._key = key
        self._refusals = refusals
        self._throttle = PasswordThrottle()
        self._held = 0  # bytes

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/v1/status/ping", self._ping),
                Route("/v1/vision/detection", self._detect, methods=["POST"]),
                Route("/v1/vision/scene", self._classify, methods=["POST"]),
                Route("/v1/vision/custom/list", self._list, methods=["POST"]),
                Route("/v1/vision/custom/{name}", self._detect, methods=["POST"]),
                Route("/v2", self._server),
                Route("/v2/health/live", self._live),
                Route("/v2/health/ready", self._ready),
                Route("/v2/models/{name}", self._metadata),
                Route("/v2/models/{name}/ready", self._model_ready),
                Route("/v2/models/{name}/infer", self._infer, methods=["POST"]),
                Route("/v2/repository/{rest:path}", self._upload, methods=["GET", "POST"]),
            ],
            exception_handlers={
                RefusedRequestError: self._refused,
                NoAnswerError: self._no_answer,
                HTTPException: self._no_path,
            },
        )

    async def _ping(self, _: Request) -> Response:
        return JSONResponse({"success": True})

    async def _detect(self, request: Request) -> Response:
        received_ns = now_ns()
        async with self._form(request) as form:
            self._known_model(request.path_params.get("name"), "detect")
            found = await self._found(form.picture)
        return JSONResponse(detection(found, form.min_confidence, seconds_since(received_ns)))

    async def _classify(self, request: Request) -> Response:
        received_ns = now_ns()
        async with self._form(request) as form:
            self._known_model(None, "classify")
            found = await self._found(form.picture)
        return JSONResponse(scene(found, seconds_since(received_ns)))

    async def _list(self, request: Request) -> Response:
        async with self._form(request, needs_picture=False):
            model = self._known_model()
        return JSONResponse({"success": True, "models": [model.name], "code": 200})

    async def _server(self, _: Request) -> Response:
        return JSONResponse(server_metadata())

    async def _live(self, _: Request) -> Response:
        return JSONResponse({"live": True})

    async def _ready(self, _: Request) -> Response:
        is_ready = self.model is not None and self.model.ready
        return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)

    async def _metadata(self, request: Request) -> Response:
        self._check_key(request)
        return JSONResponse(model_metadata(self._known_model(request.path_params["name"])))

    async def _model_ready(self, request: Request) -> Response:
        self._check_key(request)
        model = self._known_model(request.path_params["name"])
        return JSONResponse({"name": model.name, "ready": model.ready}, 200 if model.ready else 503)

    async def _infer(self, request: Request) -> Response:
        self._check_key(request)
        model = self._known_model(request.path_params["name"])
        async with self._body(request) as body:
            wanted = await asyncio.to_thread(read_inference, body, request.headers.get(JSON_LENGTH), model)
            found = await self._found(wanted.picture)
        content, headers = inference_answer(wanted, model, found)
        return Response(content, headers=headers)

    async def _upload(self, _: Request) -> Response:
        raise RefusedRequestError("upload", "edged takes no models from clients: set model.path of edged")

    def _known_model(self, name: str | None = None, task: Task | None = None) -> ServedModel:
        """Return the model that serves. Raises RefusedRequestError for another name or task, and NoAnswerError."""
        model = self.model
        if model is None:
            raise NoAnswerError("no_model")
        if name not in {None, model.name}:
            raise RefusedRequestError("model", f"model {model.name} runs, not {str(name)[:80]!r}")
        if task not in {None, model.task}:
            raise RefusedRequestError("model", f"model {model.name} is a {INSTEAD[model.task]}")
        return model

    async def _found(self, picture: SentPicture) -> AnsweredPicture:
        return await asyncio.wrap_future(self._submit(picture))

    @asynccontextmanager
    async def _form(self, request: Request, *, needs_picture: bool = True) -> AsyncIterator[DetectionForm]:
        async with self._body(request) as body:
            form = read_form(request.headers.get("content-type", ""), body, needs_picture=needs_picture)
            self._check_key(request, form.key)
            yield form

    @asynccontextmanager
    async def _body(self, request: Request) -> AsyncIterator[bytes]:
        """Read a body, which counts as held until the block ends. Raises RefusedRequestError."""
        body = bytearray()
        try:
            await self._read(request, body)
            yield bytes(body)
        finally:
            self._held -= len(body)

    async def _read(self, request: Request, body: bytearray) -> None:
        """Read a body into `body`, and count its bytes as held."""
        self._refuse_at_once(request)
        try:
            async with asyncio.timeout(BODY_S):
                async for part in request.stream():
                    body += part
                    self._held += len(part)
                    if len(body) > MOST_BYTES:
                        raise _too_large()
                    if self._held > MOST_HELD:
                        raise RefusedRequestError("busy", f"{MOST_HELD} bytes of requests wait: try again later")
        except TimeoutError:
            raise RefusedRequestError("unfinished", f"expected the whole body within {BODY_S:g} s") from None
        except ClientDisconnect:
            raise RefusedRequestError("unfinished", "a client left before the end of its request") from None

    @staticmethod
    def _refuse_at_once(request: Request) -> None:
        """Raise RefusedRequestError for a body that need not be read."""
        if int(request.headers.get("content-length", 0)) > MOST_BYTES:
            raise _too_large()
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RefusedRequestError("header", "expected a body without Content-Encoding")

    def _check_key(self, request: Request, key_of_form: str | None = None) -> None:
        """Raise RefusedRequestError unless the request has the key, if one is needed."""
        if self._key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else key_of_form
        who, now_s = network_of(request.client.host if request.client else ""), time.monotonic()
        if self._throttle.pause_s(who, now_s):
            raise RefusedRequestError("guessing", "too many wrong keys from this address")
        if not given:
            raise RefusedRequestError("key", "expected the header `Authorization: Bearer KEY`, or a field api_key")
        if not hmac.compare_digest(given.encode(), self._key.encode()):
            self._throttle.record_failure(who, now_s)
            raise RefusedRequestError("key", "a wrong key")
        self._throttle.forgive(who)

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedRequestError)  # noqa: S101 - Starlette's type is wider
        self._refusals.add(error)
        return _failure(request, STATUS.get(error.reason, 400), str(error))

    async def _no_answer(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, NoAnswerError)  # noqa: S101
        text = WHY.get(error.reason, f"its frame was dropped: {error.reason}")
        return _failure(request, 500 if error.reason in OF_THE_DEVICE else 503, f"no answer: {text}")

    async def _no_path(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        method = f"{request.method} {request.url.path[:80]!r} is not answered: {PATHS}"
        self._refusals.add(RefusedRequestError("path", method))
        return _failure(request, error.status_code, method)


def _too_large() -> RefusedRequestError:
    return RefusedRequestError("too_large", f"expected a request of at most {MOST_BYTES} bytes")


def _failure(request: Request, status: int, text: str) -> Response:
    """Return an error in the form of the protocol. The connection ends where part of the request was not read."""
    body = failure(status, text) if request.url.path.startswith("/v1") else {"error": text}
    headers = {"Retry-After": "1"} if status in {429, 503} else {}
    if status in {401, 408, 413, 503}:
        headers["Connection"] = "close"
    return JSONResponse(body, status, headers)
