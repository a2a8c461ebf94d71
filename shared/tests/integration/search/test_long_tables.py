"""Searching tables that are longer than a passage: each row is found by its columns' names."""

from collection import imported_notes
from table_of_cases import each

ROWS = "".join(f"| 担当{at} | 内線{3000 + at} | {at % 7 + 1}階 |\n" for at in range(160))
OTHERS = "".join(f"| 担当{at} | 机{at % 9} | 青 |\n" for at in range(160))


tables = imported_notes(
    {
        "phones.md": "# 総務\n\n## 連絡先\n\n| 氏名 | 電話番号 | 勤務場所 |\n|---|---|---|\n"
        f"{ROWS}",
        "desks.md": f"# 総務\n\n## 備品\n\n| 氏名 | 机 | 色 |\n|---|---|---|\n{OTHERS}",
    }
)


@each("mode", ["lexical", "hybrid"])
@each("at", [3, 77, 140])
def test_a_row_far_below_its_tables_head_is_found_by_column_and_value_and_says_both(
    tables, at, mode
):
    hit = tables.search(f"担当{at}の電話番号", k=1, mode=mode, returning="chunk").results[0]
    assert hit.file_path == "phones.md"
    assert f"| 担当{at} | 内線{3000 + at} |" in hit.content
    assert "電話番号" in hit.heading or "電話番号" in hit.content
    text = (tables.folder / "phones.md").read_text(encoding="utf-8")
    assert text.split("\n")[hit.start_line - 1] == hit.content.split("\n")[0]


def test_the_passages_of_a_long_table_are_one_section_and_join_where_they_meet(tables):
    hits = tables.search("担当77の電話番号 内線3077", k=5, returning="chunk").results
    assert hits[0].goes_on is not None
    joined = tables.search("氏名 電話番号 勤務場所 総務", k=20, returning="chunk").results
    assert len([hit for hit in joined if hit.file_path == "phones.md"]) < 3


def test_the_section_keeps_its_name_beside_the_head_of_its_table(tables):
    for hit in tables.search("連絡先", k=2, mode="lexical").results:
        assert hit.file_path == "phones.md"
