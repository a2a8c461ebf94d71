"""Forwards messages between STDIO and a running server."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable

from mdvec_mcp.bridge.remote import (
    Message,
    Remote,
    ServerUnusable,
    SessionExpired,
    self_contained_headers,
)
from mdvec_mcp.envelope import error_reply, reply_to_unusable, without_lone_surrogates

_NO_ANSWER = -32000
_END_SECONDS = 0.5
_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS = 0.25, 5.0


def forward_stdio(url: str, token: str | None, source: int, target: int) -> None:
    """Forward the messages that a client writes to ``source``, and write the replies to ``target``.

    Both are file descriptors; ends when ``source`` does.
    """
    bridge = _Bridge(Remote(url, token), os.fdopen(target, "wb", closefd=False))
    reader = os.fdopen(source, "rb", closefd=False)
    for line in io.TextIOWrapper(reader, encoding="utf-8", errors="replace"):
        if line.strip():
            bridge.take(without_lone_surrogates(line))
    bridge.end()


class _Bridge:
    """Forwards one client's messages; each request waits for its reply in a thread of its own."""

    def __init__(self, remote: Remote, target: io.BufferedWriter) -> None:
        self._remote = remote
        self._target = target
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._renewed = threading.Event()
        self._cancelled: set[str | int] = set()
        self._threads: set[threading.Thread] = set()

    def take(self, line: str) -> None:
        """Forward one line from the client."""
        reply = reply_to_unusable(line)
        if reply is not None:
            self._write(reply)
            return
        message: Message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            self._answer(message)
        elif method is not None and "id" in message:
            self._in_background(self._answer, message)
        else:
            self._notify(message)

    def end(self) -> None:
        """End the session, because the client has gone."""
        self._ended.set()
        self._renewed.set()
        self._remote.leave()
        for thread in list(self._threads):
            thread.join(_END_SECONDS)
        self._remote.close()

    def _notify(self, message: Message) -> None:
        """Forward a notification or a response, which has no reply."""
        cancelled = _cancelled_by(message)
        if cancelled is not None:
            self._cancelled.add(cancelled)
            if self._remote.hang_up(cancelled):
                return
        headers = self_contained_headers(message) if "method" in message else None
        session = self._remote.session
        try:
            self._remote.notify(message, session if headers is None else headers)
        except SessionExpired:
            return  # its subject ended with the session
        except ServerUnusable as error:
            _say(str(error))
            return
        if message.get("method") == "notifications/initialized":
            self._in_background(self._relay_notices)

    def _answer(self, request: Message) -> None:
        """Forward a request, and write its replies, or an error if there is none."""
        try:
            answered = self._ask(request)
        except ServerUnusable as error:
            answered = request["id"] in self._cancelled or self._refuse(request, str(error))
        if not answered:
            self._refuse(request, f"the server at {self._remote.url} gave no answer; ask again")
        self._cancelled.discard(request["id"])

    def _refuse(self, request: Message, sentence: str) -> bool:
        _say(sentence)
        self._write(error_reply(request["id"], _NO_ANSWER, sentence))
        return True

    def _ask(self, request: Message) -> bool:
        """Send a request and write all messages in reply, in a new session if the old one expired.

        Returns whether its response is among them.
        """
        if request["method"] == "initialize":
            answer = self._remote.begin(request)
            return answer is not None and self._write_answer(answer, request["id"])
        headers = self_contained_headers(request)
        if headers is not None:
            return self._ask_with(headers, request)
        session = self._remote.session
        try:
            return self._ask_with(session, request)
        except SessionExpired:
            self._remote.renew(session)
            self._renewed.set()
        try:
            return self._ask_with(self._remote.session, request)
        except SessionExpired as error:
            raise ServerUnusable(f"the server at {self._remote.url} keeps no session") from error

    def _ask_with(self, headers: dict[str, str], request: Message) -> bool:
        answered = False
        with self._remote.responses(request, headers) as texts:
            for text in texts:
                answered = self._write_answer(text, request["id"]) or answered
        return answered

    def _write_answer(self, text: str, id_: str | int) -> bool:
        """Write a message; returns whether it is the response, whose lost id is restored."""
        message = json.loads(text)
        if "method" in message:
            self._write(text)
            return False
        if message.get("id") != id_:
            text = json.dumps({**message, "id": id_}, ensure_ascii=False)
        self._write(text)
        return True

    def _relay_notices(self) -> None:
        """Write the messages that the server sends unprompted, even after it was restarted.

        What changed before a new session's stream was open was told to nobody, so the client is
        told to read every list again.
        """
        wait, followed = _FIRST_WAIT_SECONDS, self._remote.session
        while not self._ended.is_set():
            self._renewed.clear()
            session = self._remote.session
            try:
                with self._remote.notices(session) as texts:
                    wait = _FIRST_WAIT_SECONDS
                    if session is not followed:
                        for text in self._remote.list_changes:
                            self._write(text)
                    followed = session
                    for text in texts:
                        self._write(text)
            except SessionExpired:
                if self._renew(session):
                    continue
            except ServerUnusable:
                wait = min(2 * wait, _MAX_WAIT_SECONDS)
            self._renewed.wait(wait)

    def _renew(self, session: dict[str, str]) -> bool:
        """Begin a new session; returns whether there is one."""
        try:
            self._remote.renew(session)
        except ServerUnusable as error:
            _say(str(error))
            return False
        return self._remote.session is not session

    def _in_background(self, work: Callable[..., None], *arguments: object) -> None:
        def run() -> None:
            work(*arguments)
            self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=run, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _write(self, text: str) -> None:
        with self._writing:
            self._target.write(f"{text}\n".encode())
            self._target.flush()


def _cancelled_by(message: Message) -> str | int | None:
    """The id of the request that a notification cancels, or None."""
    if message.get("method") != "notifications/cancelled":
        return None
    id_ = (message.get("params") or {}).get("requestId")
    return id_ if isinstance(id_, str | int) else None


def _say(sentence: str) -> None:
    sys.stderr.write(f"mdvec-mcp: {sentence}\n")
    sys.stderr.flush()
