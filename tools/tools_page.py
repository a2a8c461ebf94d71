"""docs/tools.md: each tool of a real server, what it is for, its parameters, an example."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
MAX_ITEMS, MAX_LINES, MAX_CHARS = 2, 9, 160
ROWS = "n,laps,pace\n" + "".join(f"{n},{n % 5 + 1},{5 + n % 7 / 4}\n" for n in range(1, 41))

CALLS: dict[str, dict[str, object]] = {
    "notes": {"query": "地震に備えて水はどれくらい備蓄すればいいですか？", "k": 1},
    "search": {"query": "How do I keep two branches checked out?", "k": 1},
    "kakeibo": {"query": "動物園に行った日", "k": 1},
    "get_document": {"tool": "notes", "file_path": "dev/git-worktree.md", "end_line": 12},
    "runs": {},
    "list_handles": {},
    "query": {
        "query": "SELECT shop, count(*) AS n FROM transactions GROUP BY shop ORDER BY n DESC, shop",
    },
    "export": {"query": "SELECT date, -amount AS yen FROM transactions WHERE kind = 'expense'"},
    "profile": {"table_or_query": "runs", "columns": ["pace"]},
    "histogram": {"table_or_query": "runs", "column": "pace", "bins": 3},
    "materialize": {
        "name": "food",
        "query": "SELECT month, sum(-amount) AS yen FROM transactions "
        "WHERE category_major = '食費' GROUP BY month",
    },
    "get_monthly_household": {"period": "2025年6月", "output_format": "text"},
    "get_category_trend": {
        "category": "食費", "period": "2025年4月から2025年6月", "output_format": "text",
    },
    "find_transactions": {
        "query": "スーパー", "period": "2025年6月", "group_by": "shop", "limit": 2,
    },
    "household_report": {"report": "compare", "period": "2025年6月", "base": "前年"},
    "edit_household": {"what": "rule", "action": "try", "shop": "リンリン", "category": "自転車"},
    "detect_duplicates": {"date_tolerance_days": 3},
    "list_duplicate_candidates": {"limit": 1},
    "get_duplicate_candidate_detail": {},
    "get_duplicate_stats": {},
    "confirm_duplicate": {"decision": "duplicate"},
    "restore_duplicate": {},
    "reindex": {"tool": "notes"},
    "list_sources": {},
}  # fmt: skip
"""An example call of each tool, made in this order; the server holds docs/examples."""

SHOWN_BY_OTHERS = {"notes", "kakeibo", "get_duplicate_candidate_detail"}
"""Tools whose answers look like those of search and of list_duplicate_candidates."""
MAX_WIDTH = 160
SHORT = re.compile(r"[\[{]\n(?:[^\[\]{}\n]+\n)+ *[\]}]")
"""A list or object in JSON that holds neither lists nor objects."""

VOLATILE = (
    (re.compile(r'"(handle)": "[^"]+"'), r'"\1": "…"'),
    (re.compile(r'"(\w*_at|expires|last_import)": "[^"]+"'), r'"\1": "…"'),
    (re.compile(r"http://127\.0\.0\.1:\d+/[^\s\"]+"), "http://127.0.0.1:…"),
    (re.compile(r'reads "[^"]+"; last import [\dT:-]+Z'), 'reads "…"; last import …'),
    (re.compile(r"(?<=<text )[0-9a-f]+(?=>)|(?<=</text )[0-9a-f]+(?=>)"), "…"),
    (re.compile(r"（\d+か月前）"), "（…か月前）"),
    (re.compile(r", \d+ months ago"), ", … months ago"),
    (re.compile(r"\bin \d+\.\d s\b"), "in … s"),
    (re.compile(r'"(size_mb)": [\d.e-]+'), r'"\1": …'),
    (re.compile(r"\b(score) ([01]\.\d)\d"), r"\1 \2…"),
    (re.compile(r"\b(0|1)\.(\d)\d{2,}\b"), r"\1.\2…"),
)
"""Values that differ between runs or machines, and what replaces them."""


@dataclass(frozen=True, slots=True)
class Example:
    """A call and the server's answer."""

    arguments: dict[str, object]
    answer: Any


def tools_page() -> str:
    """The text of docs/tools.md, taken from a real server over the samples."""
    with tempfile.TemporaryDirectory() as folder:
        database = _filled(Path(folder))
        instructions, tools, examples = anyio.run(_server_facts, database)
    parts = [
        "# The tools of the server",
        "Written by `make docs` from a server over the samples of this repository: a collection, "
        "`notes`, a household, `kakeibo` (invented), and a dataset, `runs`. Long answers are cut "
        "here, with `…`. A parameter that is not required can be left out. A household's tools "
        "also take `tool`, its name, where there are several. Clients get the same as JSON Schema "
        "through `tools/list`. The text is the whole answer; "
        'programs that want it as data set `[server] structured = "always"`.',
        "## The server's instructions to a model",
        "\n".join(f"> {line}" for line in str(instructions).splitlines()),
    ]
    search = next(tool for tool in tools if tool.name == "search")
    for tool in tools:
        parts += [f"## {tool.name}", str(tool.description)]
        parts += [_parameters(tool.input_schema, _lines(search.input_schema, ()))]
        if tool.name not in SHOWN_BY_OTHERS:
            parts += _example(tool.name, examples[tool.name])
    parts += [
        "## The prompt `analyze_data`",
        "How to plan, ask and compute without reading rows: what "
        "[llm-rules.md](llm-rules.md) says, in English and shorter.",
    ]
    return "\n\n".join(parts) + "\n"


def _filled(folder: Path) -> Path:
    """A database with a tool of each kind, imported by the real commands."""
    (folder / "runs").mkdir()
    (folder / "runs" / "runs.csv").write_text(ROWS, encoding="utf-8")
    database = folder / "sample.sqlite"
    for name, kind, description, source in (
        ("notes", "markdown", "Sample: notes on tools and home.", EXAMPLES / "notes"),
        ("kakeibo", "household", "見本の家計簿（架空）", EXAMPLES / "household"),
        ("runs", "dataset", "Sample: laps and paces.", folder / "runs" / "runs.csv"),
    ):
        for command in (
            ("tool", "add", "-n", name, "-d", description, "-s", str(source), "--kind", kind),
            ("import", "-n", name),
        ):
            subprocess.run(
                [sys.executable, "-c", "from mdvec_cli.entry import main; main()", *command],
                check=True, capture_output=True, env=_environment(database),
            )  # fmt: skip
    return database


def _environment(database: Path) -> dict[str, str]:
    return {
        **os.environ, "MDVEC_DATABASE_PATH": str(database), "MDVEC_MODEL_NAME": "use",
        "MDVEC_ANALYTICS_FOLDER": str(database.parent / "exports"),
        "XDG_CONFIG_HOME": str(database.parent), "HOME": str(database.parent),
    }  # fmt: skip


async def _server_facts(database: Path) -> tuple[str | None, list[Any], dict[str, Example]]:
    code = "import sys; sys.argv[0] = 'mdvec-mcp'; from mdvec_mcp.entry import main; main()"
    server = StdioServerParameters(
        command=sys.executable, args=["-c", code], env=_environment(database)
    )
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        examples: dict[str, Example] = {}
        for name, call in CALLS.items():
            arguments = call | _ids_from(name, examples)
            answer = await client.call_tool(name, arguments)
            if answer.is_error:
                raise SystemExit(f"the example of {name} failed: {answer.content[0].text}")
            examples[name] = Example(arguments, answer)
        return client.instructions, tools, examples


def _ids_from(name: str, examples: dict[str, Example]) -> dict[str, object]:
    """The ids that a call takes from earlier answers, as a model reads them there."""
    if name in {"get_duplicate_candidate_detail", "confirm_duplicate"}:
        listed = examples["list_duplicate_candidates"].answer.content[0].text
        return {"check_id": int(re.search(r"check_id[=: ]*(\d+)", listed)[1])}
    if name == "restore_duplicate":
        marked = examples["confirm_duplicate"].answer.content[0].text
        return {"transaction_id": int(re.search(r"取引ID (\d+) を今後の集計から除外", marked)[1])}
    return {}


def _parameters(schema: dict[str, Any], of_search: list[str]) -> str:
    """A list of the parameters; of a collection's tool what it has in common with search."""
    required = set(schema.get("required", ()))
    lines = _lines(schema, required)
    if required == {"query"} and len(set(lines) & set(of_search)) > len(lines) // 2:
        others = [line for line in lines if line not in of_search]
        names = ", ".join(line[2:].partition(" ")[0] for line in lines if line in of_search)
        lines = [*others, f"- as of `search`: {names}"]
    return "\n".join(lines) or "No parameters."


def _lines(schema: dict[str, Any], required: Collection[str]) -> list[str]:
    """A line for each parameter: the type, the default where it is not null, and the meaning."""
    lines = []
    for name, field in schema.get("properties", {}).items():
        about = _type(field, schema)
        if name in required:
            about += "; required"
        elif (default := field.get("default")) is not None:
            about += f"; default `{json.dumps(default)}`"
        meaning = _meaning(field, schema)
        if (name, about, meaning) != ("tool", "string", ""):
            lines.append(f"- `{name}` ({about}){f': {meaning}' if meaning else ''}")
    return lines


def _resolved(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    reference = field.get("$ref")
    if reference is None:
        return field
    found: dict[str, Any] = schema["$defs"][reference.rpartition("/")[2]]
    return {**found, **{key: value for key, value in field.items() if key != "$ref"}}


def _variants(field: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    resolved = _resolved(field, schema)
    found = resolved.get("anyOf") or [resolved]
    return [_not_null(_resolved(one, schema)) for one in found if one.get("type") != "null"]


def _not_null(field: dict[str, Any]) -> dict[str, Any]:
    """The field with its only type but null."""
    types = field.get("type")
    return {**field, "type": types[0]} if isinstance(types, list) else field


def _type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """The type in words, with its bounds."""
    words = [_plain_type(one, schema) for one in _variants(field, schema)]
    return " or ".join(dict.fromkeys(words))


def _plain_type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    if "enum" in field:
        return " / ".join(f"`{value}`" for value in field["enum"] if value is not None)
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), schema)}"
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        return f"{field['type']}, {low:,} to {high:,}"
    if low is not None:
        return f"{field['type']}, at least {low:,}"
    if "maxLength" in field:
        return f"string, up to {field['maxLength']:,} characters"
    return str(field.get("type", "any"))


def _meaning(field: dict[str, Any], schema: dict[str, Any]) -> str:
    return " ".join(str(_resolved(field, schema).get("description", "")).split())


def _example(name: str, example: Example) -> list[str]:
    call = json.dumps(example.arguments, ensure_ascii=False)
    shown = "\n".join(block.text for block in example.answer.content if block.type == "text")
    language = "json" if shown.startswith("{") else "text"
    if language == "json":
        data = json.loads(shown.partition("\n")[0])
        shown = _compact(json.dumps(_cut(data), ensure_ascii=False, indent=2))
    for pattern, mask in VOLATILE:
        shown = pattern.sub(mask, shown)
    lines = [
        line if len(line) <= MAX_CHARS else f"{line[:MAX_CHARS]}…" for line in shown.splitlines()
    ]
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], "…"]
    text = "\n".join(lines)
    return [f"`{name}({call})`", _fenced(language, text)]


def _fenced(language: str, text: str) -> str:
    """A code block, whose fence is longer than those in the text."""
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}"


def _compact(text: str) -> str:
    """JSON with lists and objects of plain values on one line where they fit."""
    return SHORT.sub(
        lambda found: found[0] if len(line := _on_one_line(found[0])) > MAX_WIDTH else line, text
    )


def _on_one_line(text: str) -> str:
    line = " ".join(part.strip() for part in text.splitlines())
    return re.sub(r"^([\[{]) | ([\]}])$", r"\1\2", line)


def _cut(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The value with long lists and texts cut, and without nulls."""
    if isinstance(value, dict):
        return {key: _cut(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list) and len(value) > MAX_ITEMS:
        return [*(_cut(inner) for inner in value[:MAX_ITEMS]), f"… {len(value) - MAX_ITEMS} more"]
    if isinstance(value, list):
        return [_cut(inner) for inner in value]
    if isinstance(value, str) and len(value) > MAX_CHARS:
        return f"{value[:MAX_CHARS]}…"
    return value
