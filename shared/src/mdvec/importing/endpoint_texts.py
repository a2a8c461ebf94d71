"""The texts that an import sends to an endpoint: allowed, then embedded and kept by the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mdvec.embedding.remote.embedder import RemoteEmbedder
from mdvec.embedding.remote.endpoint import Sending, about_tokens
from mdvec.embedding.remote.failures import EndpointFailure
from mdvec.errors import MdvecError
from mdvec.importing.job import ImportJob, ProgressCount
from mdvec.importing.options import ImportRefused
from mdvec.importing.paid_vectors import PaidVectors


class SendingRefused(ImportRefused):
    """The user did not allow texts to leave this machine."""


class EndpointStopped(MdvecError):
    """An endpoint stopped embedding in the middle of an import; what it embedded is kept."""


class EndpointTexts:
    """What one import sends to an endpoint."""

    def __init__(
        self,
        job: ImportJob,
        embedder: RemoteEmbedder,
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
        self._paid = PaidVectors(job.connection, job.tool.id, embedder.fingerprint)
        with job.connection:
            self._paid.create_table()

    def embed(self, texts: Iterable[str]) -> None:
        """Embed the texts that have no vector yet; afterwards ``vectors`` has all of them.

        The batches go across files, and each is kept before the next one goes.

        Raises:
            SendingRefused: the user does not allow it; nothing was sent.
            EndpointStopped: the endpoint fails; what it embedded is kept.
        """
        new: list[str] = []
        for text in dict.fromkeys(texts):
            if self._paid.found([text]):
                self._progress.units_done += 1
            else:
                new.append(text)
        if new and not self._is_allowed:
            self._ask(new)
        for first in range(0, len(new), self._embedder.batch):
            self._embed_batch(new[first : first + self._embedder.batch], len(new) - first)

    def vectors(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of texts; those without one are embedded first."""
        found = self._paid.found(texts)
        missing = [text for text in texts if text not in found]
        if missing:  # the file changed since its texts were counted
            self.embed(missing)
            found |= self._paid.found(missing)
        return found

    def _ask(self, texts: Sequence[str]) -> None:
        job, embedder = self._job, self._embedder
        sending = Sending(
            job.tool.name, embedder.name, embedder.endpoint, len(texts), about_tokens(texts)
        )
        if not job.may_send(sending):
            raise SendingRefused(
                f"nothing was sent. {sending.sentence()} To allow it, answer yes on a terminal, or "
                "add --yes"
            )
        self._is_allowed = True

    def _embed_batch(self, texts: Sequence[str], left: int) -> None:
        connection, tool = self._job.connection, self._job.tool
        try:
            with self._job.stopwatch.stage("embed"):
                rows = self._embedder.embed_documents(texts)
        except EndpointFailure as failure:
            raise EndpointStopped(
                f"{failure}. {self.sent:,} texts were embedded and are kept, {left:,} are left; "
                f"continue with: mdvec import -n {tool.name} --mode {_again(self._job)}"
            ) from failure
        with self._job.stopwatch.stage("write"), connection:
            self._check_tool()
            vectors = {text: row.tobytes() for text, row in zip(texts, rows, strict=True)}
            self._paid.keep(vectors)
        self.sent += len(texts)
        self._progress.add_units(len(texts))


def _again(job: ImportJob) -> str:
    return "replace" if job.request.mode == "replace" else "update"
