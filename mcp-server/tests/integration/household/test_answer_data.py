"""Answers as data, for programs: what the text says, in the shape that the tools declare."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from client_here import asking, tools_of
from imported import imported
from jsonschema.validators import validator_for  # type: ignore[import-untyped]

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"
AGE = re.compile(r"明細は2025-09-30までです（\d+か月前）。")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_monthly_household", {"year": 2025, "month": 6}),
    ("get_monthly_household", {"period": "2025年9月", "category": "食費"}),
    ("get_monthly_household", {"period": "2025年6月", "output_format": "image"}),
    ("get_category_trend", {}),
    ("get_category_trend", {"category": "貯蓄率", "output_format": "image"}),
    ("find_transactions", {"query": "スーパー", "rows": "counted"}),
    ("find_transactions", {"group_by": "shop"}),
    ("edit_household", {"what": "budget", "category": "食費", "amount": 1}),
    ("edit_household", {"what": "budget", "category": "食費", "amount": 60_000}),
    ("edit_household", {"what": "rule"}),
    ("edit_household", {"what": "rule", "action": "try", "shop": "リンリン", "category": "食費"}),
    ("edit_household", {"what": "rule", "action": "add", "shop": "リンリン", "category": "食費"}),
    ("edit_household", {"what": "note", "transaction_id": 1, "note": "旅"}),
    *[
        ("household_report", {"report": report, **more})
        for report, more in (
            ("compare", {"period": "2025年9月"}),
            ("compare", {"period": "2025年9月", "detail": "full"}),
            ("compare", {"period": "2025年9月", "by": "shop"}),
            ("budget", {}),
            ("budget", {"output_format": "image"}),
            ("recurring", {}),
            ("forecast", {}),
            ("anomalies", {}),
            ("households", {"period": "2025年9月"}),
            ("net_worth", {"output_format": "image"}),
        )
    ],
    ("detect_duplicates", {}),
    ("list_duplicate_candidates", {}),
    ("get_duplicate_candidate_detail", {"check_id": 1}),
    ("get_duplicate_stats", {}),
    ("confirm_duplicate", {"check_id": 1, "decision": "skip"}),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A household imported from the samples; a later file is not imported yet."""
    root = tmp_path_factory.mktemp("household")
    folder = root / "csv"
    folder.mkdir()
    for file in SAMPLES.glob("*.csv"):
        (folder / file.name).write_bytes(file.read_bytes())
    imported(root / "vectors.sqlite", "kakeibo", folder, "household")
    (folder / "収入・支出詳細_2025-10-01_2025-10-31.csv").write_text("x", encoding="utf-8")
    return root / "vectors.sqlite"


@pytest.fixture(scope="module")
def ask(database):
    with asking(database) as ask:
        yield ask


@pytest.fixture(scope="module")
def answered(ask):
    """Each call with its answer."""
    return list(zip(CALLS, ask(*CALLS), strict=True))


def test_every_answer_has_the_shape_that_its_tool_declares(database, answered):
    schemas = {name: tool.output_schema for name, tool in tools_of(database).items()}
    declared = {}  # a validator for each tool: to check a schema takes longer than an answer
    for (tool, arguments), answer in answered:
        assert not answer.is_error, answer.words
        if tool not in declared:
            assert schemas[tool]["type"] == "object"
            declared[tool] = validator_for(schemas[tool])(schemas[tool])
            declared[tool].check_schema(schemas[tool])
        declared[tool].validate(answer.data)
        if "output_format" in arguments:
            assert answer.data["chart"]["message"] in answer.words
    text = json.dumps(schemas["household_report"], ensure_ascii=False)
    assert "A concise answer has no rows" in text  # what is empty, is said to be


def test_the_age_and_every_note_of_a_text_stand_in_its_data(answered):
    noted, told = 0, 0
    for (_, arguments), answer in answered:
        lines, data = answer.words.splitlines(), answer.data
        for age in filter(AGE.fullmatch, lines):
            assert data["age"] == age
        assert ("age" not in data) or data["age"] in answer.words
        for line in lines:
            if not line.startswith("※") or line.startswith("※ 集計に使った") or "か月平均" in line:
                continue  # the counts and the averages have fields of their own
            note = line.removeprefix("※ ").removesuffix("。")
            assert note in data["notes"] or note == data.get("understood"), arguments
            noted += 1
        newer = [line for line in lines if "まだ取り込んでいない新しいファイルが 1 個" in line]
        assert set(newer) <= set(data.get("notes", ())), arguments
        told += len(newer)
    assert noted > 10
    assert told


def test_a_hit_names_the_transaction_that_a_next_call_takes(ask):
    (found,) = ask(("kakeibo", {"query": "市営動物園"}))
    number = int(re.search(r"取引ID (\d+)", found.words)[1])
    noted, *_ = ask(("edit_household", {"what": "note", "transaction_id": number, "note": "遠足"}))
    assert f"（ID {number}、" in noted.words
    assert "動物園" in noted.words
