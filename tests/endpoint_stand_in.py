"""A server on this machine that embeds by OpenAI's and by Gemini's protocol, with faults.

Its vectors are those of the tiny model, so texts that share words are near each other. Faults are
scripted: each request takes the next one. What was answered whole counts as paid.
"""

from __future__ import annotations

import gzip
import json
import random
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mdvec.embedding.endpoint_http import FIXED_WORD
from tiny_embedder import TinyBackend

QUOTED = "sk-secret-of-a-test"
STATUS = {
    "429": (429, {"Retry-After": "0"}, {"error": {"code": "rate_limit", "message": "too fast"}}),
    "500": (500, {}, {"error": {"message": "a fault of the test"}}),
    "503": (503, {}, {"error": {"message": "overloaded"}}),
    "long wait": (429, {"Retry-After": "3600"}, {"error": {"message": "too fast"}}),
    "gemini wait": (
        429, {},
        {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}]}},
    ),
    "gemini key": (
        400, {}, {"error": {"code": 400, "message": "API key not valid. Please pass a valid one.",
                            "status": "INVALID_ARGUMENT"}},
    ),
    "quota": (429, {}, {"error": {"code": "insufficient_quota", "message": "pay first"}}),
    "key": (401, {}, {"error": {"message": f"Incorrect API key provided: {QUOTED}"}}),
    "redirect": (302, {"Location": "http://elsewhere.invalid/"}, {}),
    "far date": (503, {"Retry-After": "Fri, 31 Dec 99999999999999 23:59:59 GMT"}, {}),
    "charset": (400, {"Content-Type": "text/plain; charset=hex"}, "no text in hex"),
    "refused": (400, {}, {"error": {"message": "the input is too long"}}),
    "too large": (500, {}, {"error": {"message": "the input is too large, not too long"}}),
    "no dimensions": (400, {}, {"error": {"message": "this model has no matryoshka dimensions"}}),
}  # fmt: skip


CUT: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda payload: payload[: len(payload) // 2],
    "deep": lambda _: b"[" * 200_000,
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "packed": gzip.compress,
    "bomb": lambda _: _bomb(300),
}
SPOILED: dict[str, object] = {"nan": float("nan"), "null": None, "huge": 10**400}


class EndpointStandIn:
    """The server; ``url`` is its address, ``faults`` is what goes wrong next.

    Attributes:
        paid: how often each text was embedded and answered whole, the fixed word left out.
        requests: the body and the headers of each request, in order.
        rate: the share of requests that fail with 429 or 500, besides the scripted faults.
        seconds: how long it takes to answer a request.
        busy_seconds: how long its answers took it, all together.
        refuses: a word; a request with a text that contains it is refused as a whole.
        refusal: the fault that such a request has.
        on_request: called with the number of each request.
    """

    def __init__(self, host: str = "127.0.0.1", dimension: int = 16) -> None:
        self.dimension = dimension
        self.faults: deque[str] = deque()
        self.paid: Counter[str] = Counter()
        self.requests: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.refuses: str | None = None
        self.refusal = "refused"
        self.rate = 0.0
        self.seconds = 0.0
        self.busy_seconds = 0.0
        self.stopping = threading.Event()
        self.counting = threading.Lock()
        self.on_request: Callable[[int], None] = lambda _: None
        self._random = random.Random(20261122)
        stand_in = self

        class Handler(_Handler):
            server_side = stand_in

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_address[1]}"

    def next_fault(self) -> str | None:
        if self.faults:
            return self.faults.popleft()
        if self._random.random() < self.rate:
            return self._random.choice(["429", "500"])
        return None

    def vectors(self, texts: list[str], dimension: int) -> list[list[float]]:
        tiny = TinyBackend(dimension=dimension)
        return [[float(number) for number in row] for row in tiny.encode_documents(texts)]

    @contextmanager
    def running(self) -> Iterator[EndpointStandIn]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_side: EndpointStandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        began = time.perf_counter()
        try:
            self._serve()
        finally:
            self.server_side.busy_seconds += time.perf_counter() - began

    def _serve(self) -> None:
        side = self.server_side
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with side.counting:  # or two requests at once could have the same number
            side.requests.append((body, headers))
            number = len(side.requests)
        side.on_request(number)
        fault = side.next_fault()
        if side.refuses and any(side.refuses in text for text in body.get("input", ())):
            fault = side.refusal
        if fault == "no dimensions" and "dimensions" not in body:
            fault = None
        if side.seconds:
            side.stopping.wait(side.seconds)
        if fault in STATUS:
            status, headers, error = STATUS[fault]
            self._answer(status, json.dumps(error).encode(), headers)
        elif fault == "hang":
            side.stopping.wait(60)
            self.close_connection = True
        else:
            self._embed(body, fault)

    def _embed(self, body: dict[str, Any], fault: str | None) -> None:
        side = self.server_side
        is_gemini = self.path.endswith(":batchEmbedContents")
        texts, dimension = _asked(body, side.dimension) if is_gemini else (
            body["input"], body.get("dimensions", side.dimension)
        )  # fmt: skip
        rows: list[Any] = side.vectors(texts, dimension + (fault == "dimension"))
        rows = _spoiled(rows, fault)
        answer = _gemini(rows) if is_gemini else _openai(rows)
        if fault == "numbering":
            answer["data"] = [{**one, "index": float(one["index"])} for one in answer["data"]]
        payload = json.dumps(answer).encode()
        if fault == "drip":
            self._drip(payload)
        elif fault == "drip before":
            self._drip_headers()
        elif fault in PACKED:
            self._answer(200, PACKED[fault](payload), {"Content-Encoding": "gzip"})
        else:
            if fault is None:
                side.paid.update(text for text in texts if text != FIXED_WORD)
            self._answer(200, CUT[fault](payload) if fault in CUT else payload)

    def _answer(self, status: int, payload: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _drip(self, payload: bytes) -> None:
        """One byte at a time, each well within the time that a single read may take."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self._write_slowly(payload[place : place + 1] for place in range(len(payload)))

    def _drip_headers(self) -> None:
        """One header at a time, and no end of them."""
        self.send_response(200)
        self.flush_headers()
        self._write_slowly(f"X-Header-{n}: more\r\n".encode() for n in range(1_000))

    def _write_slowly(self, parts: Iterable[bytes]) -> None:
        try:
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
                if self.server_side.stopping.wait(0.02):
                    break
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _spoiled(rows: list[Any], fault: str | None) -> list[Any]:
    if fault == "fewer":
        return rows[:-1]
    if fault == "more":
        return [*rows, rows[0]]
    if fault == "zero":
        return [*rows[:-1], [0.0] * len(rows[-1])]
    if fault in SPOILED:
        rows[-1][0] = SPOILED[fault]
    return rows


def _bomb(megabytes: int) -> bytes:
    """So many megabytes of zeros, packed: made of one that is packed once, and repeated."""
    packing = zlib.compressobj(wbits=31)
    parts = [packing.compress(bytes(2**20)) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    return parts[0] + parts[1] * megabytes


def _asked(body: dict[str, Any], dimension: int) -> tuple[list[str], int]:
    asked = body["requests"]
    texts = ["".join(part["text"] for part in one["content"]["parts"]) for one in asked]
    return texts, asked[0].get("outputDimensionality", dimension)


def _openai(rows: list[Any]) -> dict[str, Any]:
    """The answer with its vectors in another order, as the protocol allows."""
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 1}}


def _gemini(rows: list[Any]) -> dict[str, Any]:
    return {"embeddings": [{"values": row} for row in rows]}
