"""Teaching from the page: logging in, starting and following jobs. Only teachers of the config may do so."""

import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from edged.errors import EdgedError
from edged.view.seen import SeenPicture
from edged.view.teach_jobs import TeachJobRequest, TeachJobs, Text
from edged.web.connections import Disconnections
from edged.web.limits import PasswordThrottle, network_of

IDLE_S = 3600.0  # after which a session has ended
MOST_SESSIONS = 16  # of one teacher: browsers

COOKIE = "edged-teach"
TOKEN_HEADER = "x-edged-token"  # noqa: S105 - the name of a header
LARGEST_BODY = 4096
LARGEST_LIST = 65_536  # of a body with many pictures or crops
NUMBER = re.compile(r"\d{1,18}")
NO_STORE = {"cache-control": "no-store"}


@dataclass(slots=True)
class TeacherSession:
    """A browser that has logged in. `cookie` names it; `token` must come with each request that changes something.

    A foreign page can make a browser send the cookie, but it cannot read the token.
    """

    user: str
    cookie: str
    token: str
    used_s: float


class Teachers:
    """The users of `view.teachers` in the config."""

    def __init__(self, files: Mapping[str, Path], read: Callable[[Path], str]) -> None:
        """`files`: the password file of each user. `read` returns the password in one, or raises ConfigError."""
        self._files = files
        self._read = read
        self._sessions: dict[str, TeacherSession] = {}  # by cookie, the latest used last

    def log_in(self, user: str, password: str) -> TeacherSession | None:
        """Begin a session; None for an unknown user or a wrong password. Raises ConfigError for a bad file."""
        file = self._files.get(user)
        expected = self._read(file) if file else secrets.token_urlsafe()
        if not hmac.compare_digest(password.encode(), expected.encode()):
            return None
        ours = [cookie for cookie, each in self._sessions.items() if each.user == user]
        if len(ours) >= MOST_SESSIONS:
            del self._sessions[ours[0]]
        session = TeacherSession(user, secrets.token_urlsafe(32), secrets.token_urlsafe(32), time.monotonic())
        self._sessions[session.cookie] = session
        return session

    def session(self, cookie: str) -> TeacherSession | None:
        """Return the session of a cookie, and extend it; None if there is none, or it was idle for too long."""
        session = self._sessions.pop(cookie, None)
        if session is None or time.monotonic() - session.used_s > IDLE_S:
            return None
        session.used_s = time.monotonic()
        self._sessions[cookie] = session
        return session

    def log_out(self, cookie: str) -> None:
        self._sessions.pop(cookie, None)


Handler = Callable[[Request, TeacherSession], Awaitable[Response]]


class LogIn(BaseModel):
    """What a browser sends to log in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str = Field(max_length=200)
    password: str = Field(max_length=1000)


class PicturesToLabel(BaseModel):
    """The numbers of seen pictures, and what they show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pictures: tuple[int, ...] = Field(min_length=1, max_length=200)
    label: Text


class CropsToDelete(BaseModel):
    """Crops by label and hash."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    crops: tuple[tuple[Text, Text], ...] = Field(min_length=1, max_length=200)


class LabelToForget(BaseModel):
    """A label whose crops are all deleted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Text


def _listed(pictures: Sequence[SeenPicture]) -> list[dict[str, Any]]:
    return [
        {"number": each.number, "camera": each.camera, "at": each.at, "label": each.label, "score": each.score}
        for each in pictures
    ]


class RejectedError(Exception):
    """A request that is not answered: its HTTP status, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class TeachingSite:
    """The routes below `/teach`.

    A foreign page cannot use them through the browser of a teacher: the cookie is SameSite=Strict, requests from
    other origins are rejected, bodies must be JSON, and each change needs the token of the session.
    """

    def __init__(self, teachers: Teachers, jobs: TeachJobs, disconnections: Disconnections) -> None:
        self._teachers = teachers
        self._jobs = jobs
        self._disconnections = disconnections
        self._throttle = PasswordThrottle()

    def routes(self) -> list[Route]:
        return [
            Route("/teach/session", self._session),
            Route("/teach/login", _answered(self._log_in), methods=["POST"]),
            Route("/teach/logout", self._changes(self._log_out), methods=["POST"]),
            Route("/teach/state", self._reads(self._state)),
            Route("/teach/crop/{label}/{sha256}.png", self._reads(self._crop)),
            Route("/teach/seen", self._reads(self._seen)),
            Route("/teach/seen/{number}.jpg", self._reads(self._seen_picture)),
            Route("/teach/label", self._changes(self._label), methods=["POST"]),
            Route("/teach/delete", self._changes(self._delete), methods=["POST"]),
            Route("/teach/forget", self._changes(self._forget), methods=["POST"]),
            Route("/teach/job", self._reads(self._job)),
            Route("/teach/start", self._changes(self._start), methods=["POST"]),
            Route("/teach/stop", self._changes(self._stop), methods=["POST"]),
        ]

    async def _session(self, request: Request) -> Response:
        """Say who is logged in. A foreign page cannot read the answer, and so not the token."""
        session = self._session_of(request)
        return _json({"user": session.user, "token": session.token} if session else {"user": None})

    async def _log_in(self, request: Request) -> Response:
        _check_origin(request)
        who, now_s = network_of(request.client.host if request.client else ""), time.monotonic()
        if (pause_s := self._throttle.pause_s(who, now_s)) > 0:
            self._disconnections.add("guessing", who)
            raise RejectedError(429, f"Too many wrong passwords from this address: wait {pause_s:.0f} s.")
        given = LogIn.model_validate_json(await _body(request))
        session = self._teachers.log_in(given.user, given.password)
        if session is None:
            self._throttle.record_failure(who, now_s)
            self._disconnections.add("wrong_password", who)
            raise RejectedError(403, "Wrong name or password.")
        self._throttle.forgive(who)
        answer = _json({"user": session.user, "token": session.token})
        answer.set_cookie(
            COOKIE,
            session.cookie,
            path="/teach",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def _log_out(self, _: Request, session: TeacherSession) -> Response:
        self._teachers.log_out(session.cookie)
        answer = _json({"user": None})
        answer.delete_cookie(COOKIE, path="/teach")
        return answer

    async def _state(self, _: Request, __: TeacherSession) -> Response:
        return _json(await run_in_threadpool(self._jobs.state))

    async def _crop(self, request: Request, __: TeacherSession) -> Response:
        png = await run_in_threadpool(self._jobs.folder.png, *request.path_params.values())
        return Response(png, media_type="image/png", headers=NO_STORE) if png else Response(status_code=404)

    async def _seen(self, _: Request, __: TeacherSession) -> Response:
        last, least_certain = self._jobs.seen.lists()
        return _json({"last": _listed(last), "least_certain": _listed(least_certain)})

    async def _seen_picture(self, request: Request, __: TeacherSession) -> Response:
        number = request.path_params["number"]
        found = self._jobs.seen.chosen([int(number)]) if NUMBER.fullmatch(number) else []
        if not found:
            return Response(status_code=204)  # newer ones took its place: no error of the browser
        return Response(found[0].picture.jpeg, media_type="image/jpeg", headers=NO_STORE)

    async def _label(self, request: Request, session: TeacherSession) -> Response:
        wanted = PicturesToLabel.model_validate_json(await _body(request, LARGEST_LIST))
        return _json(await run_in_threadpool(self._jobs.label, wanted.pictures, wanted.label, session.user))

    async def _delete(self, request: Request, session: TeacherSession) -> Response:
        wanted = CropsToDelete.model_validate_json(await _body(request, LARGEST_LIST))
        return _json(await run_in_threadpool(self._jobs.delete, wanted.crops, session.user))

    async def _job(self, _: Request, __: TeacherSession) -> Response:
        current = self._jobs.current
        return _json(current.as_object() if current else {})

    async def _start(self, request: Request, session: TeacherSession) -> Response:
        wanted = TeachJobRequest.model_validate_json(await _body(request))
        return _json(self._jobs.start(wanted, session.user).as_object())

    async def _stop(self, _: Request, __: TeacherSession) -> Response:
        if self._jobs.current:
            self._jobs.current.stop()
        return _json({})

    async def _forget(self, request: Request, session: TeacherSession) -> Response:
        wanted = LabelToForget.model_validate_json(await _body(request))
        return _json(await run_in_threadpool(self._jobs.forget, wanted.label, session.user))

    def _session_of(self, request: Request) -> TeacherSession | None:
        return self._teachers.session(request.cookies.get(COOKIE, ""))

    def _reads(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            session = self._session_of(request)
            if session is None:
                raise RejectedError(403, "Log in first.")
            return await handler(request, session)

        return _answered(handle)

    def _changes(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request, session: TeacherSession) -> Response:
            _check_origin(request)
            if request.headers.get(TOKEN_HEADER) != session.token:
                raise RejectedError(403, "The request has not the token of this session: reload the page.")
            return await handler(request, session)

        return self._reads(checked)


def _answered(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn errors into answers."""

    async def answer(request: Request) -> Response:
        try:
            return await handle(request)
        except RejectedError as error:
            return _json({"error": str(error)}, error.status)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the request"
            return _json({"error": f"{place}: {first['msg']}"}, 400)
        except ClientDisconnect:
            return Response(status_code=400)  # for nobody
        except EdgedError as error:
            return _json({"error": str(error)}, 409)

    return answer


def _check_origin(request: Request) -> None:
    """Reject a request that another page has caused."""
    host = request.headers.get("host")
    is_foreign = request.headers.get("origin") not in {None, f"http://{host}", f"https://{host}"}
    if is_foreign or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise RejectedError(403, "The request comes from another page.")


async def _body(request: Request, most: int = LARGEST_BODY) -> bytes:
    """Return the body of a request, which should be JSON."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RejectedError(415, "Expected JSON.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise RejectedError(413, "The request is too long.")
    return body


def _json(content: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(content, status, NO_STORE)
