"""A model hub on 127.0.0.1 that serves one folder, with the API that huggingface_hub uses."""

import functools
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class Hub(ThreadingHTTPServer):
    """Serves ``folder`` as one revision of one repository, and records which files it served."""

    daemon_threads = True

    def __init__(self, folder: Path, repository: str, revision: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.folder = folder
        self.repository = repository
        self.revision = revision
        self.endpoint = f"http://127.0.0.1:{self.server_port}"
        self.served: list[str] = []

    def files(self) -> list[Path]:
        return sorted(file for file in self.folder.rglob("*") if file.is_file())

    def name(self, file: Path) -> str:
        return file.relative_to(self.folder).as_posix()


@contextmanager
def serving(folder: Path, repository: str, revision: str) -> Iterator[Hub]:
    with Hub(folder, repository, revision) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


def asked_here(hub: Hub, patch: pytest.MonkeyPatch) -> None:
    """Have the hub's client in this process ask it: HF_ENDPOINT is read when that is loaded."""
    from huggingface_hub import constants, hf_api

    files = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    patch.setattr(constants, "ENDPOINT", hub.endpoint)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    patch.setattr(hf_api.api, "endpoint", hub.endpoint)


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub = self.server
        api = f"/api/models/{hub.repository}"
        answers = {
            f"{api}/tree/{hub.revision}": self._send_listing,
            f"{api}/revision/{hub.revision}": self._send_info,
            f"{api}/tree/main": self._send_listing,
            f"{api}/revision/main": self._send_info,
            api: self._send_info,
        }
        for file in hub.files():
            for revision in (hub.revision, "main"):
                address = f"/{hub.repository}/resolve/{revision}/{hub.name(file)}"
                answers[address] = functools.partial(self._send_file, file)
        answers.get(self.path.partition("?")[0], self._send_nothing)()

    def _send_listing(self) -> None:
        entries = [
            {
                "type": "file",
                "path": self.server.name(file),
                "size": file.stat().st_size,
                "oid": _oid(file),
            }
            for file in self.server.files()
        ]
        self._send(json.dumps(entries).encode())

    def _send_info(self) -> None:
        siblings = [
            {"rfilename": self.server.name(file), "size": file.stat().st_size}
            for file in self.server.files()
        ]
        info = {
            "id": self.server.repository, "sha": self.server.revision, "siblings": siblings,
            "cardData": {"license": "mit"},
        }  # fmt: skip
        self._send(json.dumps(info).encode())

    def _send_file(self, file: Path) -> None:
        if self.command == "GET":
            self.server.served.append(self.server.name(file))
        self._send(file.read_bytes(), {"ETag": f'"{_oid(file)}"'})

    def _send_nothing(self) -> None:
        self._send(b"{}", {"X-Error-Code": "RepoNotFound"}, status=404)

    def _send(self, content: bytes, headers: dict[str, str] | None = None, status: int = 200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", self.server.revision)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *parts: object) -> None:
        """Print nothing."""


def _oid(file: Path) -> str:
    return hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
