"""Twenty questions to a folder with one file of each format, asked over STDIO."""

from pathlib import Path

import pytest
from answer_text import passages
from imported import imported
from mdvec.converters import NEW_TOOL_ENDINGS
from mdvec.files import ScanRules
from table_of_cases import each

FOLDER = Path(__file__).parents[4] / "docs" / "examples" / "documents"
MANUAL, HOUSE, TRAVEL = "boiler-manual.pdf", "みどり荘使用細則.pdf", "出張旅費規程.docx"
SLIDES, GARDEN, BOOK = "新商品.pptx", "冬の庭しごと.html", "雲取の山小屋.epub"
QUESTIONS = [
    ("How much free space does the boiler need above it?", MANUAL, "page 1"),
    ("which pressure should the gauge show after filling?", MANUAL, "page 1"),
    ("number of the spare filter", MANUAL, "page 2"),
    ("How long does the electrode last?", MANUAL, "page 2"),
    ("What does error E11 mean?", MANUAL, "page 3"),
    ("燃えるごみは何曜日に出しますか？", HOUSE, "page 1"),
    ("粗大ごみの札はどこで買う？", HOUSE, "page 1"),
    ("自転車は何台まで置ける？", HOUSE, "page 2"),
    ("猫は飼ってもいい？", HOUSE, 'page 2 — "第2章 駐輪場とペット"'),
    ("井戸の水質検査はいつ？", HOUSE, "page 3"),
    ("管理職の宿泊料の上限", TRAVEL, "第2条 日当と宿泊料"),
    ("出張の精算書はいつまでに出す？", TRAVEL, "第3条 精算"),
    ("新幹線の指定席は使えますか", TRAVEL, "第4条 新幹線"),
    ("新商品の原価率は？", SLIDES, "slide 3"),
    ("When is the tasting event?", SLIDES, "slide 4"),
    ("薔薇はいつ剪定する？", GARDEN, "薔薇の剪定"),
    ("寒肥の油かすと骨粉の割合", GARDEN, "寒肥"),
    ("茶屋の名物は何だった？", BOOK, "chapter 1"),
    ("吹雪の夜に鐘を鳴らしたのは誰？", BOOK, "chapter 2"),
    ("吊り橋の板は何枚？", BOOK, "chapter 3"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory, connect_here, model_use):
    folder = tmp_path_factory.mktemp("kept")
    database = folder / "vectors.sqlite"
    rules = ScanRules(NEW_TOOL_ENDINGS, (), 10**7)
    use = {"load": lambda _: model_use, "model": "use"}
    report = imported(database, "kept", FOLDER, "markdown", rules=rules, **use)
    assert (report.added, report.failed) == (6, ())
    with connect_here(database, home=folder / "home") as connected:
        yield connected


@each(("question", "file", "place"), QUESTIONS)
def test_the_right_file_and_page_is_among_the_first_three(asked, question, file, place):
    answer = asked.call("kept", {"query": question, "k": 3}).content[0].text
    heads = [line for line in answer.splitlines() if line.startswith("[")]
    assert any(file in head and place in head for head in heads[:3]), answer


def test_the_text_that_is_read_on_is_that_of_the_hit(asked):
    answer = asked.call("kept", {"query": "井戸の水質検査", "k": 1}).content[0].text
    (hit,) = passages(answer)
    start, end = hit.span
    where = {"tool": "kept", "file_path": HOUSE, "start_position": start, "end_position": end}
    text = asked.call("get_document", where).content[0].text
    assert hit.content in text
    assert f"characters {start}-{end} of" in text
    whole = asked.call("get_document", {"tool": "kept", "file_path": HOUSE}).content[0].text
    assert "[page 2]\n\n# 第2章 駐輪場とペット" in whole
    assert whole.count("みどり荘 使用細則") == 1
