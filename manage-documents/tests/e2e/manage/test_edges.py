"""Output that is closed or full, Ctrl-C from the first moment, completion in the shell."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mdvec.database import open_database

RUN = [sys.executable, "-c", "import sys; from mdvec_cli.entry import main; main()"]


def ended(mdvec, *command):
    """A process in the user's folder that has come to its end."""
    return subprocess.run(
        command, env=mdvec.environment, cwd=mdvec.work, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "redirection", "why"),
    [
        (["status"], ">/dev/full", "No space left on device"),
        (["get", "water.md", "-n", "notes"], ">&-", "Bad file descriptor"),
    ],
)
def test_an_output_that_is_full_or_closed_is_one_line(notes, command, redirection, why):
    done = ended(notes, "sh", "-c", f'exec "$0" "$@" {redirection}', *RUN, *command)
    assert (done.returncode, done.stderr) == (1, f"error: the output cannot be written ({why})\n")


@pytest.mark.parametrize(
    "command",
    [
        ["--help"], ["status"], ["get", "water.md", "-n", "notes"],
        pytest.param(["search", "水"], marks=pytest.mark.soak),
    ],
)  # fmt: skip
def test_a_command_whose_output_nobody_reads_ends_without_an_error(notes, command):
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [*RUN, *command], env=notes.environment, cwd=notes.work, stdout=writing,
        stderr=subprocess.PIPE, timeout=60, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (process.returncode, b"error" in process.stderr) == (141, False)


def test_a_working_folder_that_was_removed_is_one_line(mdvec):
    line = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"'
    done = ended(mdvec, "sh", "-c", line, *RUN, "status")
    why = "No such file or directory"
    said = f"error: the working folder cannot be used ({why}); change to another\n"
    assert (done.returncode, done.stderr) == (1, said)


MOMENTS = [
    pytest.param(program, command, modules, marks=() if at % 4 == 0 else pytest.mark.soak)
    for program, command, most in (("mdvec_cli", ["watch"], 361), ("mdvec_mcp", [], 661))
    for at, modules in enumerate(range(1, most + 1, most // 12))  # the server loads some 710
]


@pytest.mark.parametrize(("program", "command", "modules"), MOMENTS)
def test_an_interrupt_from_the_first_moment_ends_it_without_a_traceback(
    notes, program, command, modules
):
    """It comes when so many modules were imported after the entry, or when the command is ready.

    Four moments of each program's start; `make soak` has the others.
    """
    code = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
from {program}.entry import main
main()
"""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-c", code, *command], env=notes.environment,
        cwd=notes.work, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if line.endswith("mdvec.quick_start\n"):
                break
        for _, line in zip(range(modules), process.stderr, strict=False):
            if "Ctrl-C ends it" in line:
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    said = "".join(line for line in said.splitlines(True) if not line.startswith("import time:"))
    assert (process.returncode, said) in [(-signal.SIGINT, ""), (130, ""), (130, "stopped\n")]


def test_an_interrupt_while_the_interpreter_ends_is_no_traceback(mdvec):
    interrupted = """
import atexit, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
atexit.register(signal.raise_signal, signal.SIGINT)
from mdvec_cli.entry import main
main()
"""
    done = ended(mdvec, sys.executable, "-c", interrupted, "--version")
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_the_shell_completes_the_names_of_tools(notes):
    completed = {"_MDVEC_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    for typed, names in (("n", "notes"), ("x", "")):
        done = notes("", COMP_WORDS=f"mdvec import -n {typed}", **completed)
        assert (done.code, done.out.split()) == (0, names.split())


def test_get_prints_a_document_or_some_of_its_lines(notes):
    text = (notes.docs / "water.md").read_text()
    whole, part, missing = notes.each(
        "get -n notes water.md", "get -n notes water.md --from 5 --to 5", "get -n notes wter.md"
    )
    assert (whole.code, whole.out) == (0, text)
    assert part.out == "## 置き場所\n"
    assert (missing.code, 'nearest are: "water.md"' in missing.err) == (1, True)
    as_json = notes("get", "-n", "notes", "water.md", "--format", "json").json
    assert (as_json["content"], as_json["truncated"]) == (text, False)


def test_get_takes_a_place_as_a_hit_shows_it_unless_a_document_has_that_name(notes):
    lines = notes("get", "water.md", "-n", "notes", "--from", "5", "--to", "7")
    assert notes("get", "water.md:5-7", "-n", "notes") == lines
    assert notes("get", "water.md:5-7", "-n", "notes", "--from", "1").code == 1
    with open_database(notes.database, "write") as connection:
        connection.execute(
            "UPDATE documents_notes SET file_path = 'water.md:5-7' WHERE file_path = '米.txt'"
        )
    assert notes("get", "water.md:5-7", "-n", "notes").out.startswith("お米は")


def test_the_server_says_on_a_terminal_what_it_is(mdvec):
    server = Path(sys.executable).with_name("mdvec-mcp")
    screen, inner = os.openpty()
    with subprocess.Popen(
        [str(server)], stdin=inner, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=mdvec.environment,
    ) as process:  # fmt: skip
        os.close(inner)
        said = process.stderr.readline()
        process.send_signal(signal.SIGKILL)
    os.close(screen)
    assert said.startswith("mdvec-mcp is a server: an MCP client starts it")
