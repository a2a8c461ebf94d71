"""What a reader sees of Markdown, which is what is embedded and indexed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.readable import readable, readable_chunk


@each(
    ("written", "seen"),
    [
        ("## 状態 `useState` {/*using-state*/}", "状態 useState using state"),
        ("### 食費 {#food-cost} ###", "食費 {#food-cost}"),
        ("**太字**と~~取消~~と==強調==と*斜体*", "太字と取消と強調と斜体"),
        ("[文書](/learn/state)と[外](https://qiita.com/a?b=1#c)", "文書と外 (qiita.com/a)"),
        ("[`createPortal`](/x 'API')", "createPortal API"),
        ("<https://a.jp/b> と https://c.jp", "https://a.jp/b と https://c.jp"),
        ("[[旅行/東京タワー|タワー]]に行く", "タワー (旅行/東京タワー)に行く"),
        ("[[メモ.md#節]] [[メモ#^ab12]] [[#節]]", "メモ 節 メモ 節"),
        ("![[猫.png|300]] ![[埋め込み]]", "猫.png 埋め込み"),
        ("| [[題\\|別名]] | `b` |\n| --- | :-: |\n| 1 | 2 |", "別名 (題) b\n\n1 2"),
        ("![](img/庭の写真.jpg) ![図](x.png)", "庭の写真 図"),
        ("#買い物 に行く", "#買い物 に行く"),
        ("文[^1]。\n\n[^1]: 脚注。", "文。\n\n脚注。"),
        ("> [!warning]- 注意\n> 中身", "注意\n中身"),
        ("> [!note]\n> 中身", "note\n中身"),
        (":::message alert\n本文\n:::", "本文"),
        (":::details 開く\n本文\n:::", "開く\n本文"),
        (":::tip[題]\n本文\n:::", "題\n本文"),
        ("見える<!-- 見えない -->%%これも%%{/* これも */}", "見える"),
        ("- [ ] 牛乳\n- [x] 卵", "- 牛乳\n- 卵"),
        ("題\n===\n\n---\n本文", "題\n\n本文"),
        ("<Intro>\n\nようこそ\n\n</Intro>", "ようこそ"),
        ('<Diagram name="x" alt="木の図" style={{a: 1}} />', "木の図"),
        ("import X from './x'\nexport const a = {\n  b: 1\n}\n\n本文", "本文"),
        ("これを import した", "これを import した"),
        ("a &amp; b \\* c", "a & b * c"),
        ("__init__ と snake_case と 1 < 2 > 0", "__init__ と snake_case と 1 < 2 > 0"),
        ("![図](data:image/png;base64,QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0)", "図"),
        (
            "```jsx {3} title=a\nimport x from 'x'; // **a**\n```",
            "jsx\nimport x from 'x'; // **a**",
        ),
        ("x = '**a**'\n```\n本文は**太字**", "x = '**a**'\n本文は太字"),
        ("- 手順\n  ```sh\n  ls <dir>\n  ```", "- 手順\nsh\n  ls <dir>"),
        ("一\r\n\r\n\r\n**二**", "一\n\n二"),
        (
            "```mermaid\ngraph TD\n  A[開始] -->|はい| B{判断}\n  style A fill:#f9f\n"
            "  花子->>太郎: こんにちは\n```",
            "A 開始 はい B 判断\n花子 太郎 こんにちは",
        ),
    ],
)
def test_what_a_reader_sees(written, seen):
    assert readable(written).strip() == seen


@each("alone", ["<!-- 注 -->", "---", "</Intro>", "[](x)", "```\n```"])
def test_what_would_leave_nothing_stays(alone):
    assert readable(alone) == alone


def test_only_markdown_is_cleaned():
    assert readable_chunk("a/b.MDX", "**a**") == "a"
    assert readable_chunk("a/b.txt", "**a** <b>") == "**a** <b>"


MARKS = [
    *("[", "]", "(", ")", "`", "```", "*", "<", ">", "!", "|", "{/*", "*/}", "<!--", "-->", ":::"),
    *("[[", "]]", "\n", "\r\n", "%%", "#", "- ", "\ue000", "1", "\ue001", "字", "a", '"', "="),
]


@given(st.lists(st.sampled_from(MARKS), max_size=40).map("".join))
def test_any_marks_are_read_and_no_word_of_plain_text_is_lost(marks):
    assert "言葉" in readable(f"言葉\n\n{marks}")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["[", "<a ", "![", "**a", "`", "{/*", "<!--", "[[", "%%a", "<!-- a", "((", "| "]
)
def test_a_hostile_text_is_read_in_time(part):
    readable(part * 3_000)
