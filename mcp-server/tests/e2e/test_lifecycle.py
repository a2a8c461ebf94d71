"""The server's life: a light start, a clean stdout, models that come and go, a quick end."""

import json
import subprocess
import threading
import time

import pytest

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
NOISE = """
import os, subprocess, sys
def shout(where):
    print('python', where, flush=True)
    os.write(1, b'native ' + where.encode() + b'\\n')
    subprocess.run(['echo', 'child', where])
class Loud:
    def __init__(self, *a, **k):
        shout('at load')
        super().__init__(*a, **k)
    def _encode(self, texts):
        shout('at search')
        return super()._encode(texts)
from mdvec_mcp import main as server
inner = server._serve
def serve(*arguments):
    shout('at start')
    from mdvec.interfaces.embedding import use
    use.UseBackend = type('LoudUse', (Loud, use.UseBackend), {})
    inner(*arguments)
server._serve = serve
server.main()
"""


def ask(number, query="水", tool="notes"):
    return {
        "jsonrpc": "2.0", "id": number, "method": "tools/call",
        "params": {"name": tool, "arguments": {"query": query}},
    }  # fmt: skip


class Wire:
    """A server started by hand, for what a well-behaved client never does."""

    def __init__(self, parameters, code=None):
        arguments = parameters.args if code is None else ["-c", code, *parameters.args[2:]]
        self.process = subprocess.Popen(
            [parameters.command, *arguments], env=parameters.env, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        self.log.extend(iter(self.process.stderr.readline, ""))

    def send(self, *messages):
        for message in messages:
            text = message if isinstance(message, str) else json.dumps(message)
            self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self, number):
        """The answer to a request; every line on the way must be protocol."""
        while True:
            line = self.process.stdout.readline()
            assert line, "".join(self.log)
            message = json.loads(line)
            if message.get("id") == number:
                return message

    def logged(self, words, seconds=20.0):
        """Wait until the log holds ``words``."""
        end = time.monotonic() + seconds
        while not any(words in line for line in list(self.log)):
            assert time.monotonic() < end, self.log
            time.sleep(0.05)

    def end(self):
        """Close STDIN; return the seconds until the process ended, and its exit code."""
        began = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        took = time.monotonic() - began
        self._reader.join(timeout=5)
        self.process.stdout.close()
        self.process.stderr.close()
        return took, code


@pytest.fixture
def wire(server):
    """Start servers by hand; whatever is left of them is ended."""
    started = []

    def start(database, *arguments, code=None, **environment):
        started.append(Wire(server(database, *arguments, **environment), code))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.end()


def loaded_libraries(process):
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:  # noqa: PTH123
        return maps.read()


def test_listing_the_tools_loads_neither_numpy_nor_a_model(filled, wire):
    one = wire(filled / "vectors.sqlite")
    one.send(HELLO)
    one.answer(1)
    one.send(READY, LIST)
    assert [tool["name"] for tool in one.answer(2)["result"]["tools"]] == ["dev", "empty", "notes"]
    before = loaded_libraries(one.process)
    one.send(ask(3))
    assert one.answer(3)["result"]["structuredContent"]["results"]
    after = loaded_libraries(one.process)
    assert ("/numpy/" in before, "/numpy/" in after) == (False, True)
    assert "sentencepiece" not in before
    assert "torch" not in after


def test_stdout_is_protocol_only_whatever_prints(filled, wire):
    one = wire(filled / "vectors.sqlite", code=NOISE)
    one.send(HELLO)
    one.answer(1)
    one.send(READY, ask(2))
    assert one.answer(2)["result"]["structuredContent"]["results"]
    one.send(ask(3))
    assert one.answer(3)["result"]["structuredContent"]["results"]
    assert one.end()[1] == 0
    log = "".join(one.log)
    for where in ("at start", "at load", "at search"):
        for who in ("python", "native", "child"):
            assert f"{who} {where}" in log


def test_garbage_on_the_wire_does_not_end_the_server(filled, wire):
    one = wire(filled / "vectors.sqlite")
    one.send(HELLO)
    one.answer(1)
    one.send(READY, "これは JSON ではない", "{", '{"jsonrpc": "2.0", "id": 9}', "[]", LIST)
    assert len(one.answer(2)["result"]["tools"]) == 3
    assert one.end()[1] == 0


def test_the_server_ends_within_a_second_of_stdin_closing(filled, wire):
    idle = wire(filled / "vectors.sqlite")
    idle.send(HELLO)
    idle.answer(1)
    took, code = idle.end()
    assert (took < 1, code) == (True, 0)


def test_the_server_ends_within_a_second_in_the_middle_of_a_search(filled, wire):
    slow = NOISE.replace(
        "shout('at search')", "print('searching', flush=True); import time; time.sleep(20)"
    )
    one = wire(filled / "vectors.sqlite", code=slow)
    one.send(HELLO)
    one.answer(1)
    one.send(READY, ask(2))
    one.logged("searching")
    took, code = one.end()
    assert (took < 1, code) == (True, 0)


def test_an_idle_model_is_let_go_and_comes_back(filled, wire):
    one = wire(
        filled / "vectors.sqlite", "--log-level", "INFO", MDVEC_MODEL_AUTO_UNLOAD_MINUTES="0.01"
    )
    one.send(HELLO)
    one.answer(1)
    one.send(READY, ask(2))
    first = one.answer(2)["result"]["structuredContent"]
    one.logged("let go of the model use")
    one.send(ask(3))
    assert one.answer(3)["result"]["structuredContent"] == first
    assert sum("loaded the model use" in line for line in one.log) == 2


def test_verbose_logs_the_time_of_each_stage(filled, wire):
    one = wire(filled / "vectors.sqlite", "--verbose")
    one.send(HELLO)
    one.answer(1)
    one.send(READY, ask(2))
    one.answer(2)
    one.end()
    log = "".join(one.log)
    for stage in ("model_load", "query_embedding", "vector_search", "search_total"):
        assert f"[TIMER] {stage}: " in log


def test_eight_questions_at_once_are_all_answered(filled, wire):
    one = wire(filled / "vectors.sqlite", "--log-level", "INFO")
    one.send(HELLO)
    one.answer(1)
    one.send(READY, *(ask(number, f"水 {number}") for number in range(2, 10)))
    answered = set()
    while len(answered) < 8:
        message = json.loads(one.process.stdout.readline())
        assert message["result"]["structuredContent"]["results"]
        answered.add(message["id"])
    assert sum("loaded the model use" in line for line in one.log) == 1


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense", 2),
        (["--log-level", "LOUD"], "invalid choice", 2),
        (["--config", "/nowhere/config.toml"], "there is no settings file", 1),
    ],
)
def test_wrong_flags_end_with_a_sentence_on_stderr(filled, server, arguments, words, code):
    parameters = server(filled / "vectors.sqlite", *arguments)
    done = subprocess.run(
        [parameters.command, *parameters.args], env=parameters.env, text=True,
        capture_output=True, stdin=subprocess.DEVNULL, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_of_the_working_folder_do_not_count(filled, server, tmp_path):
    (tmp_path / "mdvec.toml").write_text("[nonsense]\nkey = 1\n")
    parameters = server(filled / "vectors.sqlite")
    done = subprocess.run(
        [parameters.command, *parameters.args], env=parameters.env, cwd=tmp_path,
        capture_output=True, stdin=subprocess.DEVNULL, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mdvec.toml"]
