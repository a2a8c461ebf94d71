"""What a model is told of the server and reads from it: how many tools, how long, found by whom."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp_types import Implementation
from mdvec.manage import registering
from mdvec.tools.names import FOLDED, OWN
from table_of_cases import each
from word_search import ranked

CALLS = {
    "search": ("search", {"query": "地震に備えて水はどれくらい？"}),
    "row": ("notes", {"query": "git worktree"}),
    "document": ("get_document", {"tool": "notes", "file_path": "home/防災メモ.md"}),
    "month": ("get_monthly_household", {"period": "2025-06"}),
    "year": ("get_monthly_household", {"period": "2024年"}),
    "trend": ("get_category_trend", {"category": "食費", "period": "2025-01〜2025-06"}),
    "comparison": ("household_report", {"report": "compare", "period": "2025-09"}),
    "find": ("find_transactions", {"query": "スーパー", "period": "2025-06"}),
    "recurring": ("household_report", {"report": "recurring"}),
    "forecast": ("household_report", {"report": "forecast"}),
    "anomalies": ("household_report", {"report": "anomalies"}),
    "budget": ("household_report", {"report": "budget", "period": "2025-09"}),
    "candidates": ("list_duplicate_candidates", {}),
    "query": (
        "query",
        {"query": "SELECT shop, count(*) n FROM transactions GROUP BY 1 ORDER BY 2 DESC LIMIT 10"},
    ),
    "profile": ("profile", {"table_or_query": "transactions"}),
    "histogram": ("histogram", {"table_or_query": "runs", "column": "km"}),
    "tables": ("list_handles", {}),
    "sources": ("list_sources", {}),
    "chart": ("query", {"query": "SELECT day, km FROM runs", "chart": "line"}),
    "dataset": ("runs", {}),
}
"""Twenty calls as a model makes them in ordinary work."""

REQUESTS = {
    "get_monthly_household": [
        "how much did we spend in June", "total income and spending of last month",
        "今月の支出はいくら", "家計簿の月の集計",
    ],
    "get_category_trend": [
        "how did our food spending change month over month", "category trend over time",
        "食費の推移", "カテゴリの月ごとの前年比",
    ],
    "find_transactions": [
        "find transactions at Amazon", "which purchases over 10000 yen", "明細を探す",
        "Amazon にいくら使ったか店の名前で",
    ],
    "household_report": [
        "compare this month with last month", "subscriptions and recurring payments",
        "budget status", "net worth", "予算と実績", "定期的な支払い サブスク", "支出の見通し 予測",
    ],
    "edit_household": ["set a budget for food", "予算を決める", "カテゴリの規則を追加"],
    "detect_duplicates": ["detect duplicate transactions", "重複を検出"],
    "list_duplicate_candidates": ["list duplicate candidates to review", "重複候補の一覧"],
    "confirm_duplicate": ["mark this pair as duplicate", "重複と判定する"],
    "restore_duplicate": ["undo a duplicate decision, restore the transaction"],
    "query": ["run an SQL query", "average by group in SQL", "draw a bar chart of a table",
              "SQL で集計", "グラフを描く"],
    "profile": ["column statistics and null rates of a table"],
    "histogram": ["distribution of values", "分布"],
    "export": ["export all rows for Python pandas"],
    "search": ["search my notes", "メモを検索"],
    "get_document": ["read the whole document", "文書の全文を読む"],
    "list_sources": ["which sources are up to date", "取り込みの状態"],
    "reindex": ["refresh the index after files changed", "更新した文書を取り込み直す"],
}  # fmt: skip
"""What users ask for, by the tool that does it."""


@pytest.fixture(scope="module")
def database(tmp_path_factory, samples):
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def start(database, connect_here):
    def start(**settings):
        home = database.parent / "home"
        exports = {"MDVEC_ANALYTICS_FOLDER": str(home / "exports"), "MDVEC_CHARTS_PORT": "0"}
        return connect_here(database, home=home, **exports, **settings)

    return start


@pytest.fixture(scope="module")
def servers(start):
    """One server for each choice of settings."""
    core, read = {"MDVEC_SERVER_TOOLS": "core"}, {"MDVEC_SERVER_READ_ONLY": "true"}
    chosen = {"all": {}, "core": core, "read": read, "core, read": core | read}
    with ExitStack() as stack:
        yield {name: stack.enter_context(start(**one)) for name, one in chosen.items()}


@pytest.fixture(scope="module")
def client(servers):
    return servers["all"]


def listed_size(connected):
    found = connected.portal.call(connected.client.list_tools)
    return len(found.tools), len(found.model_dump_json(by_alias=True, exclude_none=True))


def test_everything_takes_at_most_24_tools_and_leaves_room_below_18_000_characters(client):
    number, size = listed_size(client)
    assert number <= 24
    assert size <= 18_000 - 200


def test_the_household_says_that_the_caller_states_dates(client):
    takers = [tool for tool in client.tools() if "period" in tool.input_schema["properties"]]
    assert len(takers) == 4
    for tool in takers:
        names = list(tool.input_schema["properties"])
        assert names.index("since") + 1 == names.index("until") == names.index("period") - 1
        assert "since" in tool.description
        assert "until" in tool.description


def test_each_tool_of_the_household_answers_in_either_language(client):
    tools = client.portal.call(client.client.list_tools).tools
    names = [tool.name for tool in tools if tool.description.startswith("Household")]
    assert len(names) == 11
    for name in names:
        refusal = client.call(name, {"language": "fr"}).content[0].text
        assert refusal.startswith("language は'ja'、'en' のいずれか"), (name, refusal)


def test_each_enum_value_has_the_type_that_its_schema_says(client):
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    for tool in client.tools():
        Draft202012Validator.check_schema(tool.input_schema)
        for name, schema in tool.input_schema["properties"].items():
            for value in schema.get("enum", ()):
                assert isinstance(value, kinds[schema["type"]]), (tool.name, name, value)


def test_the_core_takes_at_most_9_000_characters(servers):
    core = servers["core"]
    names = {tool.name for tool in core.tools()}
    assert names == {
        "notes", "kakeibo", "runs", "search", "get_document", "query", "list_sources",
    }  # fmt: skip
    assert listed_size(core)[1] <= 9_000
    assert "household_report" not in core.client.instructions
    assert_names_only_what_is_offered(core, names)


def assert_names_only_what_is_offered(connected, names):
    """Descriptions and instructions name no other tool, and say how SQL sums spending."""
    told = connected.client.instructions
    assert "spending is sum(-amount) WHERE kind = 'expense'" in told
    for text in (told, *(tool.description for tool in connected.tools())):
        words = set(re.findall(r"[a-z]+(?:_[a-z]+)+", text)) & OWN
        assert words <= names | FOLDED.keys(), text


def test_a_server_for_reading_offers_no_tool_that_writes(servers):
    reading = servers["read"]
    tools = {tool.name: tool for tool in reading.tools()}
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert {"query", "search", "household_report", "list_sources"} <= tools.keys()
    assert not {"edit_household", "confirm_duplicate", "reindex", "export"} & tools.keys()
    assert "save_as" not in tools["query"].input_schema["properties"]
    assert not reading.call("query", {"query": "SELECT 1"}).is_error
    for report, words in (
        ("rules", "カテゴリの規則は"),
        ("notes", "メモ、タグ、自分の分類のある明細は"),
    ):
        told = reading.call("household_report", {"report": report}).content[0].text
        assert told.startswith(words)
    assert_names_only_what_is_offered(reading, tools.keys())


@each(
    ("settings", "tool", "arguments", "hint"),
    [
        ("core", "set_budget", {}, "edit_household {tools = 'all'}"),
        ("core", "export", {}, "export {tools = 'all'}"),
        ("core, read", "edit_household", {},
         "edit_household {tools = 'all' and read_only = false}"),
        ("core", "runs", {"query": "FROM range(2000)"},
         "aggregate in SQL, or export {tools = 'all'} the query"),
        ("core", "runs", {"query": "SELECT repeat('あ', 5000)"},
         "the first row does not fit into an answer; select fewer columns, or left(x, 100) of a "
         "long text, or export {tools = 'all'} the query"),
        ("read", "note_transaction", {}, "edit_household {read_only = false}"),
        ("read", "list_duplicate_candidates", {},
         "detect_duplicates {read_only = false} で検出できます"),
        ("read", "household_report", {"report": "budget"},
         "edit_household {read_only = false}（what=budget）"),
    ],
)  # fmt: skip
def test_a_hint_says_which_setting_would_offer_the_tool(servers, settings, tool, arguments, hint):
    before, setting, after = re.fullmatch(r"(.*)\{(.*)\}(.*)", hint).groups()
    answer = servers[settings].call(tool, arguments)
    why = f"(this server does not offer it; with [server] {setting} it would)"
    assert before + why + after in answer.content[0].text


@each(("name", "call"), FOLDED.items())
def test_an_old_name_is_answered_with_the_new_call(client, name, call):
    answer = client.call(name, {})
    assert answer.is_error
    assert answer.content[0].text == f"{name} is part of another tool now; call {''.join(call)}"


def test_a_hint_names_a_tool_that_is_offered_without_more(client):
    text = client.call("household_report", {"report": "budget"}).content[0].text
    assert "edit_household（what=budget）" in text


def test_the_instructions_have_a_line_for_each_source_and_fit_where_clients_cut(client):
    told = client.client.instructions
    assert len(told) <= 2_000
    for name, kind in (("notes", "markdown"), ("kakeibo", "household"), ("runs", "dataset")):
        assert any(line.startswith(f"- {name} ({kind}): ") for line in told.splitlines())


def test_sources_beyond_what_clients_read_are_counted(tmp_path, connect_here):
    database = tmp_path / "v.sqlite"
    for number in range(30):
        registering.add_tool(database, f"t{number}", "長い説明" * 30, tmp_path, "markdown")
    with connect_here(database, home=tmp_path) as client:
        told = client.client.instructions
    shown = told.count("\n- t")
    assert (len(told) <= 2_000, shown > 5) == (True, True)
    assert f"\n- and {30 - shown} more: list_sources\n" in told


def test_clients_that_defer_tools_load_search_documents_and_few_rows_at_once(client):
    always = {tool.name for tool in client.tools() if (tool.meta or {}).get("anthropic/alwaysLoad")}
    assert always == {"search", "get_document", "notes", "kakeibo", "runs"}


def test_every_description_begins_with_english_words(client):
    for tool in client.tools():
        assert tool.description[:20].isascii(), tool.name


@each(("tool", "request_"), [(tool, one) for tool, asked in REQUESTS.items() for one in asked])
def test_a_plain_word_search_finds_the_right_tool_among_the_first_three(client, tool, request_):
    assert tool in ranked(client.tools(), request_)[:3]


@pytest.mark.parametrize("name", ["claude-code", pytest.param("another", marks=pytest.mark.soak)])
def test_twenty_typical_calls_cost_at_most_16_000_characters_for_any_client(start, name):
    with start(client=Implementation(name=name, version="2.1.280")) as client:
        answers = {key: client.call(*call) for key, call in CALLS.items()}
    assert [key for key, answer in answers.items() if answer.is_error] == []
    assert [key for key, answer in answers.items() if answer.structured_content] == []
    sizes = {
        key: sum(len(block.text) for block in answer.content if block.type == "text")
        for key, answer in answers.items()
    }
    assert len(sizes) == 20
    assert sum(sizes.values()) <= 16_000, sizes
