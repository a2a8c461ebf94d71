"""The analytics tools as a client meets them, on a household and on datasets."""

from __future__ import annotations

import base64
import json
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import duckdb
import psutil
import pytest
from imported import imported
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from mdvec.analysis.exports import ExportFolder
from table_of_cases import each

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"
ROWS = 20_000
RUN_SQL = f"""
    SELECT range // 2000 AS activity_id,
           TIMESTAMP '2025-06-01 06:00:00' + to_seconds(range * 30) AS moment,
           CASE WHEN range % 100 <> 7 THEN 300.0 + range % 60 END AS pace,
           140 + range % 21 AS heart_rate,
           ['朝', '昼', '夜'][1 + range % 3] AS part,
           {", ".join(f"range % {n + 2} AS metric_{n}" for n in range(17))}
    FROM range({ROWS})
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a household, and a dataset of 22 columns in three kinds of files."""
    folder = tmp_path_factory.mktemp("data")
    database = folder / "vectors.sqlite"
    duckdb.execute(f"COPY ({RUN_SQL}) TO '{folder}/runs.parquet' (FORMAT parquet)")
    (folder / "more").mkdir()
    duckdb.execute(f"COPY (SELECT * FROM ({RUN_SQL}) LIMIT 50) TO '{folder}/more/june.csv'")
    imported(database, "kakeibo", SAMPLES, "household")
    imported(database, "runs", folder / "runs.parquet", "dataset")
    imported(database, "more-runs", folder / "more", "dataset")
    return folder


@pytest.fixture(scope="module")
def exports(data) -> ExportFolder:
    return ExportFolder(data / "exports", 3_600, 10**9)


@pytest.fixture(scope="module")
def start(data, connect_here):
    def start(exports: Path, **settings: str):
        settings = {"MDVEC_ANALYTICS_FOLDER": str(exports), "MDVEC_CHARTS_PORT": "0", **settings}
        return connect_here(data / "vectors.sqlite", home=data / "home", **settings)

    return start


@pytest.fixture(scope="module")
def client(data, start):
    """One server over all of it."""
    with start(data / "exports", MDVEC_ANALYTICS_MAX_SECONDS="1") as connected:
        yield connected


def values(answer):
    """The JSON that is the text of an answer."""
    return json.loads(answer.content[0].text)


@pytest.fixture
def ask(client):
    def call(tool: str, **arguments: object) -> dict:
        answer = client.call(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        text = answer.content[0].text
        assert len(text.encode()) <= (4_000 if tool == "list_handles" else 1_024)
        return json.loads(text)

    return call


@pytest.fixture
def refused(client):
    def call(tool: str, **arguments: object) -> str:
        answer = client.call(tool, arguments)
        assert answer.is_error
        text = answer.content[0].text
        assert len(text.encode()) <= 1_024
        return text

    return call


def test_an_export_is_a_handle_and_the_file_has_the_rows(ask, exports):
    wanted = "SELECT activity_id, pace FROM {} WHERE pace > 350 ORDER BY moment"
    made = ask("export", query=wanted.format("runs"))
    assert set(made) == {"handle", "rows", "size_mb", "columns", "expires_at"}
    assert "/" not in made["handle"]
    path = exports.path_of(made["handle"])
    assert path.stat().st_mode & 0o777 == 0o600
    rows = duckdb.execute(f"SELECT * FROM '{path}'").fetchall()
    assert rows == duckdb.execute(wanted.format(f"({RUN_SQL})")).fetchall()
    assert made["rows"] == len(rows) > 0
    assert made["columns"] == ["activity_id", "pace"]


def test_an_export_can_be_csv(ask, exports):
    made = ask("export", query="SELECT '食費' AS 分類, 1 AS n", format="csv")
    assert made["handle"].endswith(".csv")
    assert exports.path_of(made["handle"]).read_text(encoding="utf-8") == "分類,n\n食費,1\n"


def test_a_profile_has_the_period_and_each_column(ask):
    found = ask("profile", table_or_query="runs", columns=["pace", "heart_rate", "part"])
    assert found["row_count"] == ROWS
    assert found["date_range"] == ["2025-06-01T06:00:00", "2025-06-08T04:39:30"]
    assert found["columns"]["pace"] == {
        "min": 300, "max": 359, "mean": found["columns"]["pace"]["mean"], "median": 330,
        "distinct_count": 60, "null_rate": 0.01, "std": 17.3299, "q1": 315, "q3": 344,
    }  # fmt: skip
    assert found["columns"]["part"]["distinct_count"] == 3
    assert "approximate" not in found


def test_a_wide_table_tells_less_of_each_column_before_it_leaves_one_out(ask):
    found = ask("profile", table_or_query="runs")
    assert len(found["columns"]) == 22
    assert found["figures"] == ["min", "max", "mean", "median", "null_rate"]
    assert found["columns"]["pace"] == [300, 359, 329.5, 330, 0.01]
    assert found["warnings"] == ["shortened; columns=[…] tells all of a few"]
    wide = ", ".join(f"'run' AS name_of_a_part_of_a_run_{number}" for number in range(60))
    found = ask("profile", table_or_query=f"SELECT {wide}")
    assert 6 <= len(found["columns"]) < 60
    _shortened, left_out = found["warnings"]
    gone = 60 - len(found["columns"])
    assert left_out.startswith(f"{gone} columns left out; name those you need in columns: name_of")
    assert left_out.endswith("more")


def test_too_many_bins_for_the_guard_become_fewer(ask):
    found = ask("histogram", table_or_query="runs", column="pace", bins=100)
    assert len(found["bins"]) < 60
    assert sum(one["count"] for one in found["bins"]) == ROWS - ROWS // 100
    assert "bins instead of" in found["warnings"][0]


def test_a_materialized_table_is_used_by_its_name(ask):
    made = ask(
        "materialize",
        name="by_part",
        query="SELECT part, avg(pace) AS pace FROM runs GROUP BY part",
    )
    assert (made["view"], made["rows"]) == ("by_part", 3)
    assert ask("profile", table_or_query="by_part")["row_count"] == 3
    handle = made["handle"].removesuffix(".parquet")
    assert ask("profile", table_or_query=handle)["row_count"] == 3
    drawn = ask("query", query=f"SELECT part, pace FROM {handle}", chart="bar")
    assert drawn["points"] == 3
    assert ask("export", query="SELECT * FROM by_part")["rows"] == 3
    assert "by_part" in [one["name"] for one in ask("list_handles")["materialized"]]


def test_list_handles_lists_tables_and_exports(ask):
    handle = ask("export", query="SELECT 1 AS n")["handle"]
    listed = ask("list_handles")
    assert handle in [one["handle"] for one in listed["exports"]]
    assert {"runs", "transactions", "more_runs__june"} <= set(listed["tables"])
    found = ask("list_handles", match="metric_16")["tables"]
    assert found == {"more_runs__june": ["metric_16"], "runs": ["metric_16"]}
    told = ask("list_handles", table="runs", match="moment")
    assert (told["tool"], told["from"], told["rows"]) == ("runs", "runs.parquet", ROWS)
    assert told["columns"][0]["period"] == ["2025-06-01T06:00:00", "2025-06-08T04:39:30"]


def test_tables_are_resources_and_their_names_are_completed(client, ask):
    there = client.client
    (template,) = client.portal.call(there.list_resource_templates).resource_templates
    uri = template.uri_template
    assert uri == "data://tables/{table}{?column,start}"
    found = client.portal.call(there.read_resource, "data://tables/runs?column=part")
    (part,) = json.loads(found.contents[0].text)["columns"]
    assert set(part["samples"]) == {"朝", "昼", "夜"}
    listed = client.portal.call(there.read_resource, "data://tables").contents[0].text
    assert json.loads(listed)["tables"].keys() == ask("list_handles")["tables"].keys()
    with pytest.raises(MCPError, match="there is no table 'nothing'"):
        client.portal.call(there.read_resource, "data://tables/nothing")

    def completed(name, value, **known):
        given = ResourceTemplateReference(uri=uri), {"name": name, "value": value}
        return client.portal.call(partial(there.complete, *given, context_arguments=known))

    assert completed("table", "RU").completion.values[0] == "runs"
    columns = completed("column", "metric_1", table="runs").completion.values
    assert columns == ["metric_1", *(f"metric_{n}" for n in range(10, 17))]
    assert completed("column", "", table="nothing").completion.values == []


def test_a_dataset_describes_its_tables(ask):
    told = ask("runs")
    (table,) = told["tables"]
    assert (table["name"], table["rows"]) == ("runs", ROWS)
    assert table["period"] == ["2025-06-01T06:00:00", "2025-06-08T04:39:30"]
    assert table["columns"]["part"] == "VARCHAR"
    assert ask("more-runs")["tables"][0]["name"] == "more_runs__june"


def test_a_dataset_never_answers_in_bulk(ask):
    found = ask("runs", query="SELECT * FROM runs")
    assert len(found["rows"]) <= 10
    assert "export" in found["warnings"][0]
    many = ", ".join(f"{n} AS column_with_a_long_name_{n}" for n in range(150))
    assert "select fewer" in ask("runs", query=f"SELECT {many}")["warnings"][0]


def test_statistics_only_returns_a_profile(ask):
    found = ask("runs", query="SELECT pace, part FROM runs", statistics_only=True)
    assert found["row_count"] == ROWS
    assert "rows" not in found


@each(
    ("tool", "arguments", "said"),
    [
        ("profile", {"table_or_query": "nothing"}, "there is no table 'nothing'"),
        ("profile", {"table_or_query": "runs", "columns": ["x"]}, "no column 'x'"),
        ("profile", {"table_or_query": "SELEC 1"}, "cannot be read"),
        ("profile", {"table_or_query": "SELECT 1; DROP TABLE runs"}, "one"),
        ("histogram", {"table_or_query": "runs", "column": "x"}, "no column 'x'"),
        ("histogram", {"table_or_query": "runs", "column": "pace", "bins": 101}, "bins"),
        (
            "histogram",
            {"table_or_query": "runs", "column": "pace", "date_range": ["x", "y"]},
            "2025-01-31",
        ),
        (
            "profile",
            {"table_or_query": "SELECT pace FROM runs", "date_range": ["2025-01-01", "2025-01-02"]},
            "no column holds dates",
        ),
        ("materialize", {"name": 'x"; DROP', "query": "SELECT 1"}, "no table can be called"),
        ("materialize", {"name": "runs", "query": "SELECT 1"}, "runs"),
        ("export", {"query": "COPY runs TO '/tmp/x'"}, "SELECT"),
        ("export", {"query": "runs", "max_rows": 100}, "20,000 rows"),
        ("runs", {"query": "SELECT * FROM read_csv('/etc/passwd')"}, "read_csv"),
    ],
)
def test_invalid_calls_are_refused_in_one_sentence(refused, tool, arguments, said):
    told = refused(tool, **arguments)
    assert said in told
    assert "\n" not in told


def test_an_endless_query_is_stopped_and_the_next_one_works(refused, ask):
    began = time.monotonic()
    told = refused("profile", table_or_query="SELECT a.moment FROM runs a, runs b, runs c")
    assert time.monotonic() - began < 1 + 1.5
    assert "stopped after 1 s" in told
    assert ask("profile", table_or_query="SELECT 42 AS n")["row_count"] == 1


def test_a_query_that_the_client_cancels_frees_its_place_at_once(client, data, ask):
    ask("profile", table_or_query="SELECT 1 AS n")
    spool = str(data / "exports")

    def used() -> float:
        """The seconds of the query processes: either of the two may take a query."""
        seconds = 0.0
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if "mdvec.sql.child.main" in process.cmdline() and (spool in process.cwd()):
                    seconds += sum(process.cpu_times()[:2])
        return seconds

    def until_busy() -> None:
        before, end = used(), time.monotonic() + 1
        while used() < before + 0.1 and time.monotonic() < end:
            time.sleep(0.005)

    async def cancel_and_ask_again() -> float:
        endless = {"table_or_query": "SELECT a.moment FROM runs a, runs b, runs c"}
        async with anyio.create_task_group() as group:
            group.start_soon(client.client.call_tool, "profile", endless)
            await anyio.to_thread.run_sync(until_busy)
            group.cancel_scope.cancel()
        began = time.monotonic()
        answer = await client.client.call_tool("profile", {"table_or_query": "SELECT 42 AS n"})
        assert values(answer)["row_count"] == 1
        return time.monotonic() - began

    # Once of three times: the machine may be busy, and the limit of a query is a second.
    assert any(client.portal.call(cancel_and_ask_again) < 0.5 for _ in range(3))


def test_a_query_is_drawn_as_an_image_with_an_address(client):
    query = "SELECT part, avg(pace) AS pace FROM runs GROUP BY part ORDER BY part"
    answer = client.call("query", {"query": query, "chart": "bar", "title": "時間帯ごとのペース"})
    text, image = answer.content
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    told = json.loads(text.text)
    assert told["points"] == 3
    assert told["shows"].startswith("bar chart '時間帯ごとのペース' of 3 names, ")
    assert told["url"].startswith("http://127.0.0.1:")
    drawing = client.call("query", {"query": query, "chart": "bar", "image_format": "svg"})
    assert len(drawing.content) == 1
    wrong = client.call("query", {"query": "SELECT part FROM runs", "chart": "line"})
    assert "numbers after it" in wrong.content[0].text


def test_lists_and_descriptions_wait_for_no_query_even_if_nine_run(client, ask):
    ask("profile", table_or_query="SELECT 1 AS n")
    endless = {"table_or_query": "SELECT a.moment FROM runs a, runs b, runs c"}
    ended: list[bool] = []

    async def slow() -> None:
        ended.append((await client.client.call_tool("profile", endless)).is_error)

    async def list_beside_them() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(9):
                group.start_soon(slow)
            await anyio.wait_all_tasks_blocked()
            for name in ("list_handles", "runs"):
                assert not (await client.client.call_tool(name, {})).is_error
            assert ended == []
            group.cancel_scope.cancel()

    client.portal.call(list_beside_them)


def test_the_log_tells_of_starts_exports_and_refusals_without_a_word_of_the_query(start, tmp_path):
    log = tmp_path / "mdvec.log"
    with start(tmp_path / "exports", MDVEC_LOG_FILE=str(log)) as client:
        client.call("export", {"query": "SELECT '食費' AS 分類 FROM range(3)"})
        for tool, query in (
            ("profile", "SELECT '食費'::INTEGER AS n"), ("no_such_tool", ""), ("profile", 5),
        ):  # fmt: skip
            assert client.call(tool, {"table_or_query": query}).is_error
    lines = log.read_text("utf-8").splitlines()
    assert " start program=mdvec-mcp " in lines[0]
    told = [line.split(" ", 3)[3] for line in lines[-4:]]
    assert told[0].startswith("export format=parquet rows=3 bytes=")
    assert told[1:] == [
        "refusal tool=profile error=QueryFailed",
        "refusal tool=no_such_tool error=ToolError",
        "refusal tool=profile error=ValidationError",
    ]
    assert "食費" not in "".join(lines)


def test_the_rules_reach_the_client(client):
    prompts = client.portal.call(client.client.list_prompts).prompts
    assert [prompt.name for prompt in prompts] == ["analyze_data"]
    prompt = client.portal.call(
        client.client.get_prompt, "analyze_data", {"question": "ペースは？"}
    )
    assert "safe_load_export" in prompt.messages[0].content.text
    assert "ペースは？" in prompt.messages[0].content.text
    for name, arguments, words in (
        ("analyse", {}, 'no prompt "analyse"; there is: analyze_data'),
        ("analyze_data", {"q": "?"}, 'no argument "q"; it takes: question'),
    ):
        with pytest.raises(MCPError, match=words) as refused:
            client.portal.call(client.client.get_prompt, name, arguments)
        assert refused.value.code == -32602
    assert "export hands them to Python" in client.client.instructions


def test_handles_survive_a_restart_and_expire(start, tmp_path):
    folder = tmp_path / "exports"

    def server(ttl: int):
        return start(folder, MDVEC_ANALYTICS_EXPORT_TTL_SECONDS=str(ttl))

    def exported(client) -> Path:
        return folder / values(client.call("export", {"query": "SELECT 1 AS n"}))["handle"]

    with server(3_600) as client:
        lasting = exported(client)
    with server(1) as client:
        brief = exported(client)
        deadline = time.monotonic() + 20
        while brief.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert values(client.call("query", {"query": "SELECT 1"}))["rows"] == [[1]]
    assert list(folder.glob("*.parquet")) == [lasting]
    assert ExportFolder(folder, 3_600, 10**9).path_of(lasting.name) == lasting


def test_query_answers_a_group_by_over_the_household_and_corrects_a_mistake(client):
    sql = (
        "SELECT TOP 9 kind, count(*) AS n FROM transactions WHERE kind <> 'excluded' GROUP BY kind"
    )
    refused = client.call("query", {"query": sql})
    assert refused.is_error
    assert refused.content[0].text.endswith("DuckDB has (SELECT … LIMIT 9)")
    fixed = f"{sql.replace('TOP 9 ', '')} ORDER BY kind LIMIT 9"
    answer = client.call("query", {"query": f"```sql\n{fixed};\n```"})
    found = values(answer)
    assert found["columns"] == ["kind", "n"]
    assert [kind for kind, _ in found["rows"]] == ["expense", "income", "transfer"]
    assert found["total_rows"] == 3
    rest = client.call("query", {"query": "SELECT * FROM transactions"})
    assert len(rest.content[0].text.encode()) <= 4_000
    counted = client.call("query", {"query": "SELECT count(*) FROM transactions"})
    assert values(counted)["rows"] == [[values(rest)["total_rows"]]]
    assert values(rest)["handle"].endswith(".parquet")


def test_a_question_is_saved_run_listed_and_deleted(client):
    def call(query=None, **arguments):
        return client.call("query", arguments if query is None else {"query": query, **arguments})

    sql = "SELECT part, count(*) AS n FROM runs WHERE heart_rate > $least GROUP BY part ORDER BY 1"
    made = call(sql, save_as="hard", description="努力した回数")
    assert values(made)["parameters"] == {"least": "number"}
    found = call("hard", parameters={"least": 150})
    assert values(found)["columns"] == ["part", "n"]
    assert values(found)["total_rows"] == 3
    drawn = call("hard", parameters={"least": 150}, chart="bar")
    assert values(drawn)["shows"].startswith("bar chart of 3 names, ")
    assert drawn.content[1].type == "image"
    wrong = call("hard", parameters={"least": "much"})
    assert wrong.content[0].text == "least of hard must be a number, such as 1.5, not 'much'"
    again = call(sql, save_as="hard")
    assert "mode=replace" in again.content[0].text
    trend = call(
        "trend",
        parameters={"table": "transactions", "measure": "amount", "period": "year"},
    )  # fmt: skip
    assert [row[0] for row in values(trend)["rows"]] == [
        "2023-01-01", "2024-01-01", "2025-01-01",
    ]  # fmt: skip
    resource = client.portal.call(client.client.read_resource, "data://saved_questions")
    listed = json.loads(resource.contents[0].text)
    assert [one["name"] for one in listed] == [
        "hard", "trend", "compare_periods", "anomalies", "correlations",
    ]  # fmt: skip
    assert listed[0]["parameters"] == "least (number)"
    assert values(call(save_as="hard", mode="delete")) == {"deleted": "hard"}
    gone = call("hard", parameters={}).content[0].text
    assert gone.startswith("there is no saved question 'hard'; there are: trend")


def test_a_name_of_a_table_and_a_question_is_asked_about(client):
    def told(**arguments):
        return client.call("query", arguments).content[0].text

    told(query="SELECT 42 AS answer", save_as="later")
    client.call("materialize", {"name": "later", "query": "SELECT 7 AS n"})
    assert told(query="later") == (
        "later is a table and a question; for the table write FROM later, for the question give "
        "parameters, {} if it has none"
    )
    assert json.loads(told(query="later", parameters={}))["rows"] == [[42]]
    assert json.loads(told(query="FROM later"))["rows"] == [[7]]
    told(save_as="later", mode="delete")
    assert json.loads(told(query="later"))["rows"] == [[7]]
    assert told() == "query needs the parameter 'query', or save_as with mode=delete"
    assert told(query="SELECT 1", parameters={"n": 1}).startswith("this SQL has no parameter 'n'")
