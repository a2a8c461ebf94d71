"""A worker: its messages arrive whole, its caller waits no longer than it wants, and it ends."""

import threading
import time
from contextlib import closing

import psutil
import pytest
from query_subject import is_gone

from mdvec.cancelling import Cancelled, cancelled_by
from mdvec.platform import Worker, python_child

MODULE = """
import os, time
from mdvec.platform import Parent

writing = os.dup(1)
parent = Parent()
print("a package that prints", flush=True)
while request := parent.receive():
    if "raw" in request:
        os.write(writing, bytes.fromhex(request["raw"]))
        break
    time.sleep(request.get("seconds", 0))
    data = parent.read(request.get("bytes", 0))
    parent.send({"text": request["text"] * 2, "data": data.decode()})
"""
SOON = 0.3


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "replying.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    with closing(Worker(**python_child("replying"), max_bytes=20_000_000)) as made:
        yield made


def after(seconds):
    return time.monotonic() + seconds


@pytest.mark.parametrize(
    ("text", "back", "data"),
    [
        ("家\n" * 1_000_000, "家\n" * 2_000_000, b"x\n" * 1_500_000),
        ("", "", b""),
        ("\ud800", "??", b""),  # half a surrogate pair
    ],
)
def test_messages_and_raw_data_pass_whole_and_prints_do_not_disturb_them(worker, text, back, data):
    for _ in range(2):
        worker.send({"text": text, "bytes": len(data)}, after(60), data)
        assert worker.receive(after(60)) == {"text": back, "data": data.decode()}


def test_a_caller_that_waits_no_longer_can_still_receive_the_message(worker):
    watched, cancelled = [], threading.Event()
    worker.send({"text": "", "seconds": 2}, after(60))
    with pytest.raises(TimeoutError):
        worker.receive(after(SOON), lambda: watched.append(1))
    assert 1 <= len(watched) <= 20 * SOON
    threading.Timer(SOON, cancelled.set).start()
    with pytest.raises(Cancelled), cancelled_by(cancelled):
        worker.receive(after(60))
    with pytest.raises(ZeroDivisionError):
        worker.receive(after(60), lambda: 1 // 0)
    assert worker.receive(after(60)) == {"text": "", "data": ""}


def test_a_worker_that_reads_nothing_does_not_keep_its_caller(worker):
    psutil.Process(worker.process.pid).suspend()
    with pytest.raises(TimeoutError):
        worker.send({}, after(SOON), bytes(3_000_000))
    worker.close()
    assert is_gone(worker.process.pid, 0)  # and is no zombie


@pytest.mark.parametrize(
    "raw", ["", "{}", "a traceback\n", "[]\n", "1\n", "\0\xff\n", "[" * 9_999 + "\n"]
)
def test_a_worker_that_ends_or_writes_no_message_is_reported(worker, raw):
    worker.send({"raw": raw.encode("latin-1").hex()}, after(60))
    with pytest.raises(EOFError):
        worker.receive(after(60))
    worker.close(60)
    assert worker.process.returncode == 0


def test_a_message_over_the_limit_is_not_received(worker):
    worker.send({"text": "x" * 11_000_000}, after(60))
    with pytest.raises(EOFError):
        worker.receive(after(60))
    worker.process.kill()
    worker.process.wait()
    with pytest.raises(EOFError):
        worker.send({}, after(60))
