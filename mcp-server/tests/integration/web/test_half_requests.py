"""Connections whose request does not arrive whole: they end, and the server answers others."""

import socket
import threading

import anyio.to_thread
import pytest
import uvicorn
from mdvec.manage.addresses import Address
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from table_of_cases import each

from mdvec_mcp.web.gate import listen
from mdvec_mcp.whole_requests import WholeRequests

SECONDS = 30
ALL = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


class Impatient(WholeRequests):
    arrival_seconds = 0.5


@pytest.fixture(scope="module")
def port():
    released = threading.Event()

    async def app(scope, receive, send):
        request = Request(scope, receive)
        await request.body()
        if scope["path"] == "/slow":
            await anyio.to_thread.run_sync(released.wait)
        if scope["path"] == "/release":
            released.set()
        await PlainTextResponse("done")(scope, receive, send)

    listening, address = listen(Address("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", http=Impatient, ws="none")
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
    thread.start()
    yield address.port
    released.set()
    web.should_exit = True
    thread.join()


def sent(port, data):
    """A connection that has sent this."""
    connection = socket.create_connection(("127.0.0.1", port), SECONDS)
    connection.sendall(data)
    return connection


def rest(connection):
    """All that the server sends until it closes the connection."""
    with connection, connection.makefile("rb") as file:
        return file.read()


@each("half", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc"])
def test_a_request_that_does_not_arrive_whole_ends_its_connection(port, half):
    assert b"done" not in rest(sent(port, half))


def test_so_does_half_a_second_request(port):
    connection = sent(port, ALL)
    assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
    connection.sendall(ALL[:9])
    assert rest(connection) in (b"", b"done")


def test_a_whole_request_may_take_as_long_as_it_needs(port):
    slow = sent(port, ALL.replace(b"/ ", b"/slow ", 1))
    rest(sent(port, b""))  # ends only after the time in which a request must arrive
    sent(port, ALL.replace(b"/ ", b"/release ", 1)).close()
    assert slow.recv(10_000).startswith(b"HTTP/1.1 200")
    slow.close()
