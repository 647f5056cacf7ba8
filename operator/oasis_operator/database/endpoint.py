"""Where the agent works: SQL over HTTPS, under its own login, with the server's own answer.

`POST /query` with `{"sql": text}` is answered by `{columns, rows, row_count}` and 200, or by
`{error: {code, message}}`: 403 where the server says that the login lacks the right, 400 for its other
refusals, 408 for what took too long. One request is one session, so that nothing goes on once its answer, or
whoever waits for it, is gone.
"""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from pg8000.native import Connection, DatabaseError, InterfaceError

from oasis_operator.database import plan
from oasis_operator.database.server import words_of
from oasis_operator.errors import ProviderFault
from oasis_operator.model import jsontext

if TYPE_CHECKING:
    import ssl

    from oasis_operator.database.server import Server

_QUERY_SECONDS: Final = 30.0
_MOST_BYTES: Final = 1 << 20
_MOST_ROWS: Final = 10_000
_REFUSED: Final = "42501"


class Endpoint:
    """The agent's way into one database."""

    def __init__(self, server: Server, token: str) -> None:
        """Let whoever shows `token` work in the database of `server`."""
        self._server, self._token = server, token
        self._runner: web.AppRunner | None = None
        self.closed = False

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen, and return the port; 0 takes a free one."""
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_post("/query", self._query)
        app.router.add_get("/", self._hello)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=context)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """End every request and listen no more."""
        self.closed = True
        if self._runner is not None:
            await self._runner.cleanup()

    async def _hello(self, request: web.Request) -> web.Response:
        if not self._is_agent(request):
            return _error(401, "28000", "want the bearer token of this database")
        rows = await self._server.run(("SELECT version()",))
        return web.json_response({"server": rows[0][0], "query": "POST /query {sql}", "user": plan.AGENT})

    async def _query(self, request: web.Request) -> web.Response:
        if not self._is_agent(request):
            return _error(401, "28000", "want the bearer token of this database")
        try:
            body = jsontext.parse(await request.read())
        except ValueError:
            return _error(400, "22000", "want a JSON object with sql")
        sql = body.get("sql") if isinstance(body, dict) else None
        if not isinstance(sql, str) or not sql.strip():
            return _error(400, "22000", "sql: want the text of a statement")
        return await self._carried_out(sql)

    def _is_agent(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())

    async def _carried_out(self, sql: str) -> web.Response:
        """Carry a text out in a session of its own, which is ended whatever becomes of the request."""
        try:
            session = await asyncio.to_thread(self._server.connect, plan.AGENT, self._token)
        except (DatabaseError, InterfaceError, OSError) as error:
            return _error(503, "08000", words_of(error))
        working = asyncio.ensure_future(asyncio.to_thread(_answer, session, sql))
        try:
            return await asyncio.wait_for(asyncio.shield(working), _QUERY_SECONDS)
        except TimeoutError:
            return _error(408, "57014", f"ended after {_QUERY_SECONDS:g} s")
        finally:
            await asyncio.shield(self._end(session, working))

    async def _end(self, session: Connection, working: asyncio.Future[web.Response]) -> None:
        if not working.done():
            await self.end_sessions()
        await asyncio.gather(working, return_exceptions=True)
        await asyncio.to_thread(_close, session)

    async def end_sessions(self) -> None:
        """End whatever the agent has under way in the server."""
        ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{plan.AGENT}'"
        try:
            await self._server.run((ended,))
        except ProviderFault:
            return


def _answer(session: Connection, sql: str) -> web.Response:
    try:
        rows = session.run(sql) or []
    except DatabaseError as error:
        said = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        code = str(said.get("C") or "XX000")
        return _error(403 if code == _REFUSED else 400, code, words_of(error))
    except InterfaceError as error:
        return _error(400, "0A000", words_of(error))
    except OSError as error:
        return _error(503, "08000", words_of(error))
    columns = [str(column["name"]) for column in session.columns or ()]
    shown = [[_plain(value) for value in row] for row in rows[:_MOST_ROWS]]
    return web.json_response({"columns": columns, "rows": shown, "row_count": session.row_count})


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _close(session: Connection) -> None:
    try:
        session.close()
    except (DatabaseError, InterfaceError, OSError):
        return


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)
