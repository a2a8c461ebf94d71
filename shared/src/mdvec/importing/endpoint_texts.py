"""Sends an import's texts to an endpoint if allowed, and stores the vectors of each batch.

One request is in flight while the import splits and stores other files. The next request is sent
when the vectors of the last one are in the database, so a kill loses at most one paid request.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread

import apsw

from mdvec import embedding
from mdvec.cancelling import cancelled_by, raise_if_cancelled
from mdvec.database import has_table
from mdvec.errors import MdvecError
from mdvec.importing.job import ImportJob, ProgressCount
from mdvec.importing.options import ImportRefused
from mdvec.tools import allow_endpoint, is_endpoint_allowed

_MAX_REFUSED, _MAX_REFUSED_AT_FIRST = 50, 3
_LAST_SECONDS = 3.0
"""How long a stopped import waits for a paid response."""
_LOOK_SECONDS = 0.1
"""The seconds between checks for cancellation while waiting for a response."""


class PaidVectors:
    """The vectors of one tool and one fingerprint, by embedded text, until the import finishes.

    The first import that needs the table creates it. It holds a digest of each text, not the text,
    and is not part of the numbered database format.
    """

    def __init__(self, connection: apsw.Connection, tool_id: int, fingerprint: str) -> None:
        self._connection = connection
        self._key = (tool_id, fingerprint)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS paid_vectors ("
            "tool_id INTEGER NOT NULL, fingerprint TEXT NOT NULL, digest BLOB NOT NULL, "
            "embedding BLOB NOT NULL, PRIMARY KEY (tool_id, fingerprint, digest), "
            "FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE) WITHOUT ROWID"
        )

    def vectors_of(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The stored vectors, by text."""
        by_text = {}
        for text in texts:
            vector = self._connection.execute(
                "SELECT embedding FROM paid_vectors "
                "WHERE tool_id = ? AND fingerprint = ? AND digest = ?",
                (*self._key, _digest(text)),
            ).get
            if vector is not None:
                by_text[text] = bytes(vector)
        return by_text

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors; call within a transaction."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO paid_vectors VALUES (?, ?, ?, ?)",
            [(*self._key, _digest(text), vector) for text, vector in vectors.items()],
        )


def forget_paid(connection: apsw.Connection, tool_id: int) -> None:
    """Delete a tool's paid vectors, which are now in its chunks; call within a transaction."""
    if has_table(connection, "paid_vectors"):
        connection.execute("DELETE FROM paid_vectors WHERE tool_id = ?", (tool_id,))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()


class SendingRefused(ImportRefused):
    """The user did not allow texts to leave this machine."""


class EndpointStopped(MdvecError):
    """An endpoint stopped embedding in the middle of an import; what it embedded is kept."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A batch in flight."""

    texts: Sequence[str]
    answer: Future[embedding.Vectors]

    @property
    def has_vectors(self) -> bool:
        """Whether the request succeeded; a failure is raised when its vectors are needed."""
        return self.answer.done() and self.answer.exception() is None


class EndpointTexts:
    """The texts that one import sends to an endpoint."""

    def __init__(
        self,
        job: ImportJob,
        embedder: embedding.RemoteEmbedder,
        progress: ProgressCount,
        check_tool: Callable[[], None],
    ) -> None:
        """``check_tool`` raises, within a transaction, if the tool is no longer the same."""
        self.sent = 0
        self._check_tool = check_tool
        self._job = job
        self._embedder = embedder
        self._progress = progress
        self._is_allowed = embedder.endpoint.is_local
        self._later: Iterator[str] = iter(())
        self._next: list[str] = []
        self._request: _Request | None = None
        self._size = embedder.batch
        self._refused: dict[str, str] = {}
        self._is_over = Event()
        weakref.finalize(self, self._is_over.set)
        self._paid = PaidVectors(job.connection, job.tool.id, embedder.fingerprint)

    def begin(self, texts: Iterable[str]) -> None:
        """Start embedding the texts that have no vector yet, in batches across files.

        Each text is read just before its batch is sent.

        Raises:
            SendingRefused: the user does not allow it; nothing was sent.
        """
        self._later = self._without_vector(texts)
        self._send()

    def vectors(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of texts; waits until all of them are stored.

        Raises: SendingRefused: the user does not allow sending; the import asks at its first text
            without a vector.
            EndpointStopped: the endpoint failed; finished vectors are kept.
            ModelError: the endpoint refuses one of these texts, but not others.
        """
        if self._request is not None and self._request.has_vectors:
            self._keep_answer()
        by_text = self._paid.vectors_of(texts)
        while missing := [text for text in dict.fromkeys(texts) if text not in by_text]:
            for text in missing:
                if text in self._refused:
                    raise embedding.ModelError(self._refused[text])
            if self._request is None:
                self._send(missing)
            self._keep_answer()
            by_text |= self._paid.vectors_of(missing)
        return by_text

    def _without_vector(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            if self._paid.vectors_of([text]):
                self._progress.units_done += 1
            else:
                yield text

    def ask(self) -> None:
        """Ask the user before the first text of a tool is sent to another machine.

        Raises:
            SendingRefused: the user does not allow it; nothing was sent.
        """
        if self._is_allowed:
            return
        job = self._job
        sending = embedding.Sending(job.tool.name, self._embedder.name, self._embedder.endpoint)
        if not _obtain_consent(job, sending):
            raise SendingRefused(
                f"nothing was sent. {sending.sentence()} To allow it, answer yes on a terminal, or "
                f"add --yes: {job.again} --yes"
            )
        self._is_allowed = True

    def _send(self, first: Sequence[str] = ()) -> None:
        """Send the next batch, starting with ``first``, if no request is in flight."""
        self._next[:0] = [text for text in first if text not in self._next]
        self._fill()
        texts, self._next = self._next[: self._size], self._next[self._size :]
        if not texts:
            return
        self.ask()
        answer: Future[embedding.Vectors] = Future()
        self._request = _Request(texts, answer)
        # A plain thread: an executor would wait for the response after Ctrl-C.
        Thread(
            target=_embed, args=(self._embedder, texts, answer, self._is_over), daemon=True
        ).start()
        self._fill()

    def _fill(self) -> None:
        """Read texts until they fill a batch."""
        while len(self._next) < self._embedder.batch:
            text = next(self._later, None)
            if text is None:
                return
            if self._is_new(text):
                self._next.append(text)

    def _is_new(self, text: str) -> bool:
        under_way = () if self._request is None else self._request.texts
        known = (self._next, under_way, self._refused)
        return not any(text in there for there in known) and not self._paid.vectors_of([text])

    def _keep_answer(self) -> None:
        """Wait for the response in flight, store its vectors, and send the next batch."""
        if self._request is None:
            return
        texts = self._request.texts
        try:
            with self._job.stopwatch.stage("embed"):
                rows = _result_of(self._request.answer)
        except embedding.EndpointFailure as failure:
            self._request = None
            if isinstance(failure, embedding.TextRefused) and self._set_aside(texts, failure):
                self._send()
                return
            raise EndpointStopped(
                f"{failure}. {self.sent:,} texts were embedded and are kept; "
                f"continue with: {self._job.again}"
            ) from failure
        self._keep(texts, rows)
        self._size = min(2 * self._size, self._embedder.batch)
        self._progress.add_units(len(texts))
        self._send()

    def _keep(self, texts: Sequence[str], rows: embedding.Vectors) -> None:
        with self._job.stopwatch.stage("write"), self._job.connection:
            self._check_tool()
            vectors = {text: row.tobytes() for text, row in zip(texts, rows, strict=True)}
            self._paid.keep(vectors)
        self._request = None  # only now: the import may be stopped at any moment
        self.sent += len(texts)

    def keep_last(self) -> None:
        """Wait briefly for the paid response in flight, and store its vectors."""
        if self._request is None:
            return
        with suppress(MdvecError, TimeoutError):
            self._keep(self._request.texts, self._request.answer.result(_LAST_SECONDS))

    def _set_aside(self, texts: Sequence[str], refused: embedding.TextRefused) -> bool:
        """Find the refused text by bisection and continue without it; False gives up.

        The text may be too long, which only the endpoint can tell. If an endpoint refuses one text
        after the other, it refuses the requests, not the texts.
        """
        if len(texts) > 1:
            self._next[:0] = texts
            self._size = len(texts) // 2
            return True
        self._refused[texts[0]] = str(refused)
        return len(self._refused) < (_MAX_REFUSED if self.sent else _MAX_REFUSED_AT_FIRST)


def ask_about_questions(job: ImportJob, model: str, load: Callable[[], embedding.Embedder]) -> None:
    """Ask whether questions may go to an endpoint that never got the tool's texts.

    Either the endpoint has changed, or the import had no text to send.
    """
    if job.request.is_automatic or not embedding.is_endpoint_model(model):
        return
    try:
        embedder = load()
    except (embedding.ModelError, ImportRefused):
        return  # no question can be sent, and searches say why
    if not isinstance(embedder, embedding.RemoteEmbedder) or embedder.endpoint.is_local:
        return
    name, endpoint = job.tool.name, embedder.endpoint
    if not _obtain_consent(job, embedding.Sending(name, embedder.name, endpoint)):
        job.on_notice(
            f"questions about {name} do not go to {endpoint.host}; they are answered by words "
            f"alone until you allow it: mdvec import -n {name} --mode update --yes"
        )


def _obtain_consent(job: ImportJob, sending: embedding.Sending) -> bool:
    """Whether texts may be sent: the user allowed it earlier for this tool and address, or now."""
    where = job.connection, job.tool.id, sending.endpoint.origin
    if is_endpoint_allowed(*where):
        return True
    if is_allowed := job.may_send(sending):
        allow_endpoint(*where)
    return is_allowed


def _embed(
    embedder: embedding.RemoteEmbedder,
    texts: Sequence[str],
    answer: Future[embedding.Vectors],
    is_over: Event,
) -> None:
    """Embed in a thread; a retry does not begin once the import is over."""
    try:
        with cancelled_by(is_over):
            answer.set_result(embedder.embed_documents(texts))
    except BaseException as error:  # noqa: BLE001 - the import raises it
        answer.set_exception(error)


def _result_of(answer: Future[embedding.Vectors]) -> embedding.Vectors:
    while not answer.done():
        raise_if_cancelled()
        try:
            return answer.result(_LOOK_SECONDS)
        except TimeoutError:  # from this wait; one from the call is raised below
            continue
    return answer.result()
