"""Who may teach from the page: names with passwords, and the sessions of those who have logged in."""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

IDLE_S = 3600.0  # after which a session has ended
MOST_SESSIONS = 64


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
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
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
        """End a session."""
        self._sessions.pop(cookie, None)
