"""`mdvec import` and `search` with a model behind an endpoint: what is asked, told and kept."""

import pytest
from endpoint_stand_in import QUOTED, EndpointStandIn
from mdvec.manage.registering import add_tool

ELSEWHERE = {"MDVEC_MODEL_OPENAI_DIMENSIONS": "16", "MDVEC_MODEL_OPENAI_API_KEY_ENV": "OWN_KEY"}


@pytest.fixture
def endpoint(mdvec):
    """A server whose address is not this machine's own name, and `mdvec` set to use it."""
    with EndpointStandIn("0.0.0.0").running() as stand_in:
        mdvec.environment |= {
            "MDVEC_MODEL_NAME": "openai:tiny",
            "MDVEC_MODEL_OPENAI_BASE_URL": f"{stand_in.url}/v1",
            "MDVEC_MODEL_RETRY_BASE_DELAY": "0.001",
            "OWN_KEY": QUOTED,
            **ELSEWHERE,
        }
        add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
        mdvec.write("a.md", "# 水\n\n一人一日三リットルを備える。\n")
        yield stand_in


def test_in_a_pipe_nothing_is_sent_without_yes(mdvec, endpoint):
    done = mdvec("import", "-n", "notes")
    assert (done.code, done.out) == (1, "")
    assert (
        "error: nothing was sent. notes: its texts, and later questions about them, go to "
        in done.err
    )
    assert done.err.endswith("or add --yes: mdvec import -n notes --mode update --yes\n")
    assert endpoint.requests == []
    allowed = mdvec("import", "-n", "notes", "--yes", "--format", "json")
    assert (allowed.code, allowed.json["chunks_embedded"]) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "sent", "code"), [("y\n", 1, 0), pytest.param("\n", 0, 1, marks=pytest.mark.soak)]
)
def test_on_a_terminal_it_asks_first(mdvec, endpoint, answer, sent, code):
    terminal = mdvec.on_terminal("import", "-n", "notes")
    terminal.wait_for("[y/N]")
    assert endpoint.requests == []
    terminal.type(answer)
    assert terminal.end() == code
    assert sum(endpoint.paid.values()) == sent


def test_the_key_is_in_no_message_log_or_database_and_the_doctor_sends_nothing(mdvec, endpoint):
    log = mdvec.work / "log.txt"
    mdvec.environment |= {"MDVEC_LOG_FILE": str(log), "MDVEC_LOG_LEVEL": "DEBUG"}
    endpoint.faults.extend(["429", "key"])
    refused = mdvec("import", "-n", "notes", "--yes", "--verbose")
    assert refused.code == 1
    assert "refuses the key" in refused.err
    done = [refused, mdvec("import", "-n", "notes", "--yes", "-v"), mdvec("search", "水", "-v")]
    sent = len(endpoint.requests)
    done += mdvec.each("doctor", "status -n notes", "model ls")
    assert "openai:tiny sends texts and questions to 0.0.0.0:" in done[3].out
    assert "a search of all tools found its document" in done[3].out
    assert len(endpoint.requests) == sent
    assert endpoint.requests[-1][1]["authorization"] == f"Bearer {QUOTED}"
    shown = "".join(one.out + one.err for one in done)
    stored = b"".join(file.read_bytes() for file in mdvec.work.iterdir() if file.is_file())
    assert QUOTED not in shown
    assert QUOTED.encode() not in stored
    wrong = mdvec("model", "ls", MDVEC_MODEL_OPENAI_API_KEY_ENV=QUOTED)
    assert (wrong.code, QUOTED in wrong.err) == (1, False)


def test_a_search_says_that_it_goes_by_words_alone(mdvec, endpoint):
    mdvec("import", "-n", "notes", "--yes")
    endpoint.faults.extend(["503"] * 2)
    done = mdvec("search", "水の備え")
    assert (done.code, "a.md" in done.out) == (0, True)
    assert "note: notes was searched by words alone: 0.0.0.0:" in done.err


def test_model_ls_lists_it_and_model_test_asks_it_for_one_word(mdvec, endpoint):
    listed = mdvec("model", "ls", "--format", "json").json["models"][-1]
    assert (listed["name"], listed["available"], listed["dimension"]) == ("openai:tiny", True, 16)
    tried = mdvec("model", "test", "openai:tiny", MDVEC_MODEL_OPENAI_DIMENSIONS=None)
    assert tried.out.startswith("openai:tiny at 0.0.0.0:")
    assert ": 16 dimensions, a question in " in tried.out
    assert [body["input"] for body, _ in endpoint.requests] == [["mdvec"]]
    here = mdvec("model", "test", "use", "--format", "json").json
    assert (here["name"], here["host"], here["dimension"]) == ("use", None, 512)
    keyless = mdvec("model", "test", "openai:tiny", OWN_KEY=None)
    assert (keyless.code, keyless.out) == (1, "")
    assert "needs a key in the variable OWN_KEY, which is not set" in keyless.err
