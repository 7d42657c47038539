"""TLS in front of a camera that speaks none, as of a server that is RTSP's."""

import asyncio
import contextlib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.eventually import LIMIT_S


def server_context(folder: Path, name: str) -> ssl.SSLContext:
    """Shows NAME.crt."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
    return context


class TlsFront:
    """Passes what comes by TLS to a port of this host, and back."""

    def __init__(self, port: int, behind: int, context: ssl.SSLContext) -> None:
        self.port = port
        self._behind = behind
        self._context = context
        self._loop = asyncio.new_event_loop()
        self.received = b""  # of all connections, in clear

    @contextmanager
    def running(self) -> Iterator["TlsFront"]:
        """While this lasts."""
        server = self._loop.run_until_complete(
            asyncio.start_server(self._join, "127.0.0.1", self.port, ssl=self._context)
        )
        thread = Thread(target=self._loop.run_forever)
        thread.start()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._end_all(server), self._loop).result(LIMIT_S)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(LIMIT_S)
            self._loop.close()

    async def _join(self, viewer: asyncio.StreamReader, to_viewer: asyncio.StreamWriter) -> None:
        camera, to_camera = await asyncio.open_connection("127.0.0.1", self._behind)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await asyncio.wait(
                [
                    asyncio.ensure_future(self._pass_on(viewer, to_camera, keep=True)),
                    asyncio.ensure_future(self._pass_on(camera, to_viewer)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        for writer in (to_camera, to_viewer):
            writer.transport.abort()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, keep: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.received += data if keep else b""
                writer.write(data)
                await writer.drain()

    @staticmethod
    async def _end_all(server: asyncio.Server) -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
