"""Connections to Chroma servers, with limits in time, and their errors as messages.

Chroma's own client waits for an answer without end. Here a server gets a few seconds when a search
asks, and more when vectors are sent.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mdvec.index.chroma_server import ChromaServer
from mdvec.index.nearest import EngineUnavailable

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

SEARCH_SECONDS, WRITE_SECONDS = 3.0, 120.0
_CONNECT_SECONDS = 3.0
_EXTRA = "pip install -c constraints.txt -e './shared[chroma]' (in mdvec's own folder)"


class CollectionMissing(EngineUnavailable):
    """The server has no collection of that name."""


class ExtraMissing(EngineUnavailable):
    """Chroma's client is not installed."""

    def __init__(self) -> None:
        super().__init__(f"[index] engine = 'chroma' needs Chroma's client; install it: {_EXTRA}")


def check_client_installed() -> None:
    """Check that Chroma's client is installed, without importing it.

    Raises:
        ExtraMissing: it is not.
    """
    if importlib.util.find_spec("chromadb") is None:
        raise ExtraMissing


@functools.lru_cache(maxsize=8)
def client(server: ChromaServer, seconds: float) -> ClientAPI:
    """The client of a server; each of its requests may take so many seconds.

    Raises:
        EngineUnavailable: the server does not answer, or refuses the client.
    """
    check_client_installed()
    headers = _headers(server)
    with translated_errors(server):
        import chromadb
        import httpx
        from chromadb.config import Settings

        # The constructor below waits without end, so this asks first.
        beat = f"{server.url.rstrip('/')}/api/v2/heartbeat"
        httpx.get(beat, timeout=_CONNECT_SECONDS, headers=headers).raise_for_status()
        made = chromadb.HttpClient(
            host=server.url.rstrip("/"),
            headers=headers,
            tenant=server.tenant,
            database=server.database,
            # Given here, they are not taken from the working folder's .env or the environment.
            settings=Settings(
                _env_file=None,
                anonymized_telemetry=False,
                chroma_server_host=server.url.rstrip("/"),
                chroma_server_http_port=8000,
                chroma_server_headers=headers,
                chroma_client_auth_provider=None,
                chroma_otel_collection_endpoint="",
            ),
        )
        # There is no public way to limit the time.
        made._server._session.timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)  # noqa: SLF001
    return made


@functools.lru_cache(maxsize=64)
def known_collection(server: ChromaServer, seconds: float, name: str) -> Collection:
    """A collection by its name.

    Raises:
        CollectionMissing: there is none.
        EngineUnavailable: the server does not answer.
    """
    with translated_errors(server):
        return client(server, seconds).get_collection(name, embedding_function=None)


@contextmanager
def translated_errors(server: ChromaServer) -> Iterator[None]:
    """Raise whatever the client raises as ``EngineUnavailable``, with the reason in a few words."""
    try:
        yield
    except EngineUnavailable:
        raise
    except Exception as error:  # the client raises ValueError, its own, httpx's and plain Exception
        if type(error).__name__ == "NotFoundError" and "ollection" in str(error):
            known_collection.cache_clear()
            raise CollectionMissing(
                f"{server.name} does not have these vectors; send them with: mdvec doctor --fix"
            ) from error
        raise EngineUnavailable(
            f"{server.name} did not answer ({_reason(error, server)})"
        ) from error


def _token(server: ChromaServer) -> str:
    return os.environ.get(server.token_env or "", "").strip()


def _headers(server: ChromaServer) -> dict[str, str]:
    if server.token_env is None:
        return {}
    token = _token(server)
    if not token:
        raise EngineUnavailable(
            f"the variable {server.token_env}, which [index] token_env names, is not set"
        )
    if not token.isascii() or not token.isprintable():
        raise EngineUnavailable(
            f"the variable {server.token_env} does not hold a token; "
            "it has characters that no token has"
        )
    return {"Authorization": f"Bearer {token}", "X-Chroma-Token": token}


def _reason(error: Exception, server: ChromaServer) -> str:
    """The error in a few words, without the token: servers quote what they refuse."""
    words = " ".join(str(error).split()) or type(error).__name__
    if token := _token(server):
        words = words.replace(token, "[token]")
    return words[:200].rstrip(".")
