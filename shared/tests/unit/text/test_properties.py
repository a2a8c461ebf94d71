"""Front matter as properties, and tags in the text; whatever stands there, nothing is raised."""

from datetime import date

from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.matter import front_matter
from mdvec.text.properties import MAX_TAGS, Properties, day_in_name, folded_tag, properties_of


def read(content):
    return properties_of(content, front_matter(content))


def test_front_matter_is_kept_as_text():
    note = (
        "---\ntitle: 会議\ntags: [会議, project/a]\naliases:\n  - 打ち合わせ\ndate: 2025-06-01\n"
        "updated: 2025-07-02\nstatus: 済\npriority: 1.10\nlinks: {a: b}\nempty: ~\n---\n本文\n"
    )
    assert read(note) == Properties(
        tags=("会議", "project/a"),
        aliases=("打ち合わせ",),
        date=date(2025, 6, 1),
        values={
            "title": "会議", "tags": ("会議", "project/a"), "aliases": ("打ち合わせ",),
            "date": "2025-06-01", "updated": "2025-07-02", "status": "済", "priority": "1.10",
            "links": (),
        },
    )  # fmt: skip


@each(
    "tags",
    [
        "tags: [会議, a/b]", "tags:\n- 会議\n- a/b", "tags: 会議, a/b", "tags: 会議、a/b",
        "tags: 会議 a/b",
        "tags: #会議 #a/b", "tags: '#会議 #a/b'", "tags: [#会議, #a/b]",
        "tags:\n  - #会議\n  - #a/b", "tags:\n  - 会議\n  - #a/b",
        "Tags: [会議, a/b, 会議]", "tag: [会議, a/b] # the author's",
        "tags:\n- name: 会議\n  versions: []\n- name: a/b", "tags: [{id: 1, name: 会議}, a/b]",
        "title: A: B\ntags: [会議, a/b]", "x: [\ntags: 会議, a/b",
        "tags:\n-会議\n-a/b", "tags:\n  -会議\n  -a/b", "tags:\n- 会議\n-a/b",
        "tags: # 分類\n- 会議\n- a/b\nx: A: B", "tags: [会議, a/b] #memo\nx: A: B",
        "tags: 会議\ntags: [a/b]", "tags: #会議\ntags: #a/b",
    ],
)  # fmt: skip
def test_tags_are_read_however_they_are_written(tags):
    assert read(f"---\n{tags}\n---\n本文\n").tags == ("会議", "a/b")


@each(
    "tags",
    [
        "tags:\n#仕事 #会議", "tags:\n#仕事\n#会議\ndate: 2025-06-01", "tags:\n#仕事, #会議",
        "tags:\n  - #仕事\n  - #会議\n#draft: true\ndate: 2025-06-01",
        "tags:\n  - #仕事\n  - #会議\n#draft", "tags:\n  - #仕事\n#- #草稿\n  - #会議",
        "tags: #仕事 #会議\n#draft: true", "tags: #仕事 #会議\n# a note",
        "tags: #仕事\n#会議", "tags:\n  - #仕事\n  #会議",
        "tags:\n  - #仕事\n  #draft: true\n  - #会議",
        "tags:\n#仕事\n#会議\n#todo write more",
        "tags:\n#仕事\n#会議\n#draft: true\nx: A: B", "tags: #仕事\n#会議\nx: A: B",
    ],
)  # fmt: skip
def test_a_line_of_tags_below_their_key_counts_and_a_comment_there_does_not(tags):
    assert read(f"---\ntitle: 旅\n{tags}\n---\n本文\n").tags == ("仕事", "会議")


@each("line", ["# a note", "#draft: true", "#- 草稿", "#todo write more", "  #- 草稿"])
def test_a_comment_below_empty_tags_is_no_tag(line):
    assert read(f"---\ntags:\n{line}\ndate: 2025-06-01\n---\n本文\n").tags == ()


@each("sign", ["\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\x96", "\ufffe"])
def test_front_matter_with_a_control_character_is_read_by_lines(sign):
    note = f"---\ntitle: 発表{sign}資料\ntags: [仕事, 会{sign}議]\ndate: 2025-06-01\n---\n本文\n"
    assert front_matter(note).is_broken
    assert read(note).date == date(2025, 6, 1)
    assert read(note).tags[0].endswith("仕事")


def test_a_quoted_key_begins_an_entry_and_one_with_a_symbol_ends_the_title():
    found = read(
        "---\ntitle: Docker: 入門\n📅: 2024-03-03\n\"tags\": [容器]\n'status' : 済\n"
        "date: 2025-06-01\n---\n"
    )
    assert found.values == {
        "title": "Docker: 入門", "tags": ("容器",), "status": "済", "date": "2025-06-01",
    }  # fmt: skip


def test_the_values_of_a_key_that_comes_again_are_read_as_if_each_were_alone():
    found = read(
        "---\naliases: [A, B]\naliases: C, D\ntags: 仕事 会議\ntags: [鯨 船]\n"
        "date: 2025-06-01\ndate: 2025-07-01\ndate: 未定\n---\n"
    )
    assert found.aliases == ("A", "B", "C", "D")
    assert found.tags == ("仕事", "会議", "鯨 船")
    assert found.date == date(2025, 7, 1)
    assert found.values["aliases"] == ("A", "B", "C, D")


def test_an_alias_goes_on_in_the_line_below():
    found = read("---\naliases:\n- 一行\n二行\n- C\n---\n")
    assert found.aliases == ("一行 二行", "C")


def test_no_tag_is_read_from_the_lines_of_a_block_that_is_text_as_well():
    block = "title: A: B\n#draft: true\ncolor: #e0f0ff\ntags: # 分類\n#tags: [old]\n"
    assert read(f"---\n{block}---\n#本文\n").tags == ("本文",)


def test_toml_is_front_matter_too():
    note = "+++\ntags = ['a', 'b']\ndate = 2024-12-05T10:00:00+09:00\n[extra]\nx = 1\n+++\n本文\n"
    found = read(note)
    assert (found.tags, found.date) == (("a", "b"), date(2024, 12, 5))


@each(
    ("matter", "day"),
    [
        ("date: 2025-06-01 10:00 +0900", date(2025, 6, 1)),
        ("date: 2025/6/1", date(2025, 6, 1)),
        ("date: 2025年6月1日", date(2025, 6, 1)),
        ("date: 2025-06", date(2025, 6, 1)),
        ("created: 2025-06-01\nupdated: 2025-07-01", date(2025, 6, 1)),
        ("date: someday\nupdated: 2025-07-01", date(2025, 7, 1)),
        ("date: 2025-02-31", None),
        ("date: [2025-01-01, 2025-02-01]", date(2025, 1, 1)),
        ("date: 20250601", date(2025, 6, 1)),
        ("date: 202506011230", date(2025, 6, 1)),
        ('date: "[[2025-06-01]]"', date(2025, 6, 1)),
        ("created: '[[日記/2025-06-01|きのう]]'", date(2025, 6, 1)),
        ("作成日: 2025/06/01\n更新日: 2025/07/01", date(2025, 6, 1)),
        ("日付: 2025年6月1日", date(2025, 6, 1)),
        ("date: 令和7年7月1日（火）", date(2025, 7, 1)),
        ("date: 令和７年 ７月", date(2025, 7, 1)),
        ("date: 平成元年1月8日", date(1989, 1, 8)),
        ("date: R7.7.1", date(2025, 7, 1)),
        ("date: July 3, 2025 9:00 AM", date(2025, 7, 3)),
        ("date: 1603-03-24", date(1603, 3, 24)),
        ("date: Sat, 12 Jul 2025 09:00:00 +0900", date(2025, 7, 12)),
        ("date: Saturday, July 12, 2025", date(2025, 7, 12)),
        ("date: 土曜日, 2025年7月12日", date(2025, 7, 12)),
        ("date: （土）2025/7/12", date(2025, 7, 12)),
        ("date: 2025-07-11T20:00:00Z", date(2025, 7, 11)),
        ("date: '2025-07-12T05:00:00+09:00'", date(2025, 7, 12)),
        ('date: "Time-stamp: <2025-06-01 10:00:00>"', date(2025, 6, 1)),
        ("date: '2025-06-01' 14:00", date(2025, 6, 1)),
        ('date: "2025年6月1日" (日)', date(2025, 6, 1)),
        ("date: Sunset 2025-06-01", None),
        ("date: 月例会 2025-06-01", None),
        ("date: 令和7年", None),
        ("date: 令和7年2月31日", None),
        ("date: 12345678", None),
        ("date: until 2025-06-01", None),
        ("date: []", None),
    ],
)
def test_the_date_of_a_note(matter, day):
    assert read(f"---\n{matter}\n---\n").date == day


@each(
    ("matter", "day"),
    [
        ("published_at: 2025-06-01 09:03\nupdated_at: 2025-07-01", date(2025, 6, 1)),
        ("updated_at: '2025-07-01T10:00:00+09:00'\ncreated_at: '2025-06-01'", date(2025, 6, 1)),
        ("lastmod: 2025-07-01\npublishDate: 2025-06-01", date(2025, 6, 1)),
        ("pubDate: 'Jun 08 2025'\nupdatedDate: 'Jul 01 2025'", date(2025, 6, 8)),
        ("date created: 2025-06-01\ndate modified: 2025-07-01", date(2025, 6, 1)),
        ("Created-At: 2025-06-01", date(2025, 6, 1)),
        ("modified: 2025-07-01", date(2025, 7, 1)),
        ("published: true\nlastmod: 2025-07-01", date(2025, 7, 1)),
        ("published_at: 2025-06-01\ndate: 2025-05-01", date(2025, 5, 1)),
        ("expiryDate: 2025-06-01", None),
    ],
)
def test_the_keys_of_publishing_tools_have_dates_creation_before_change(matter, day):
    assert read(f"---\n{matter}\n---\n").date == day


def test_tags_in_the_text_count_but_for_code_comments_and_numbers():
    note = (
        "---\ntags: 会議\n---\n# 見出し #in-heading\n\n本文 #買い物 と #project/a\n- #list\n"
        "`#span` ``a ` #b`` #12 http://x/#anchor #2025-q1\n <!-- #hidden --> %% #aside %%\n\n"
        "```\n#fence\n```\n\n    #indented\n"
    )
    assert read(note).tags == (
        "会議", "in-heading", "買い物", "project/a", "list", "2025-q1",
    )  # fmt: skip


@each(
    ("text", "tags"),
    [
        ("C の #error ディレクティブは止める。", ()),
        ("Use the #error directive to stop.", ()),
        ("see #error.\n", ()),
        ("#work #home\n本文", ("work", "home")),
        ("今日は #Tag と #work/meeting を見る", ("work/meeting",)),
        ("今日は #Go を見る。\n\n- 本 #go", ("Go",)),
        ("---\ntags: [golang]\n---\n今日は #Golang を見る", ("golang",)),
        ("see /etc/#a and #or/else.", ()),
        ("---\ntags: ['to do', a b]\n---\n", ("to do", "a b")),
        (
            '---\ntags:\n  - "#week review"\n  - "#Import 2025-03-18 13:46"\n  - "#a #b"\n---\n',
            ("week review", "Import 2025-03-18 13:46", "a", "b"),
        ),
        ("---\ntags: Business & Economics\n---\n", ("Business", "Economics")),
        ("---\ntags: [C++, '&', '＆', ⭐, '#']\n---\n", ("C++", "⭐")),
        ("---\ntags: 買い物 メモ, 仕事\n---\n", ("買い物 メモ", "仕事")),
        ("---\ntags: This is a note. It says much\n---\n", ()),
        ("- [ ] 牛乳 #errand #今日", ("errand", "今日")),
        ("今日は #会議 があった。", ("会議",)),
        ("#会議は来週です。", ()),
        ("不具合は #31の件と同じ。 #2025年度", ("2025年度",)),
        ("---\ntags: ['This is a note. It says much.', ok, 'これは文です。']\n---\n", ("ok",)),
        ("#仕事🔥 と #🍣 と #0🌲 を", ("仕事🔥", "🍣", "0🌲")),
        ("旅は #👨‍👩‍👧/✈️ だ。 #🍣 #list", ("👨‍👩‍👧/✈️", "🍣", "list")),
        ("#🔥 #error という。 #1️⃣ #仕事→次 #（🍣） #会議🔥は来週です。", ("🔥", "error", "仕事")),
    ],
)
def test_a_sign_inside_prose_and_a_whole_sentence_are_no_tags(text, tags):
    assert read(text).tags == tags


def test_tags_are_compared_without_width_case_and_sign():
    assert folded_tag("#ＰＲＯＪＥＣＴ/A/") == folded_tag("project/a") == "project/a"
    assert read("---\ntags: [Work, work, #WORK]\n---\n").tags == ("Work",)


def test_broken_yaml_is_told_apart_from_good():
    assert front_matter("---\ntitle: A: B\n---\n").is_broken
    assert front_matter("---\ntitle: A\nid: x\n続き\nstatus: open\n---\n").is_broken
    assert front_matter("---\ntitle: A\ntitle: B\n---\n").is_broken
    assert not front_matter("---\ntitle: A\n---\n").is_broken


def test_a_list_that_is_not_closed_has_its_items():
    found = read('---\ntags: [会議, "ab"\nAlias: [x, y\ntitle: [案] A: B\n---\n')
    assert (found.tags, found.aliases) == (("会議", "ab"), ("x", "y"))
    assert found.values["title"] == "[案] A: B"


def test_a_bracket_that_is_not_closed_is_text_in_other_entries():
    found = read("---\ntitle: [注意\nnext: '[WIP: 会議\nwith: [x, y\naliases: [WIP: 会議\n---\n")
    assert found.values == {
        "title": "[注意", "next": "[WIP: 会議", "with": "[x, y", "aliases": "[WIP: 会議",
    }  # fmt: skip


@example("---\na: &a [*a]\ntags: *a\n---\n")
@example("---\ntags: &t [x]\naliases: *t\ndate: 99999999999-01-01\n---\n")
@example('---\ntitle: "\\ud83d"\n---\n#\ud83d')
@example("+++\nx = 1" + "0" * 5000 + "\n+++\n")
@given(
    st.text()
    | st.text("---\n\n: #[]{}&*!|>'\"tags日a,").map(lambda block: f"---\n{block}\n---\n#a{block}")
)
def test_any_text_has_properties(content):
    found = read(content)
    assert len(found.tags) <= MAX_TAGS
    assert all(tag and folded_tag(tag) for tag in found.tags)


@each(
    ("path", "day"),
    [
        ("log/2024-12-05-standup.md", date(2024, 12, 5)),
        ("memo-2024_12_05.md", date(2024, 12, 5)),
        ("20241205.txt", date(2024, 12, 5)),
        ("会議２０２４１２０５.md", date(2024, 12, 5)),
        ("2024年12月5日の会議.md", date(2024, 12, 5)),
        ("2024-12.md", date(2024, 12, 1)),
        ("令和7年7月2日 議事録.md", date(2025, 7, 2)),
        ("令和７年７月１１日.md", date(2025, 7, 11)),
        ("議事録（令和元年 5 月）.md", date(2019, 5, 1)),
        ("2024-12-05 令和6年度の準備 令和6年4月.md", date(2024, 12, 5)),
        ("Notes of Dec 5, 2024.txt", date(2024, 12, 5)),
        ("library r2.1.5.md", None),
        ("PyCharm 2024.1.md", None),
        ("令和7年13月.md", None),
        ("2024年12月.md", date(2024, 12, 1)),
        ("v20249999-2024.1.2.md", date(2024, 1, 2)),
        ("2024-12-05/plan.md", None),
        ("2024.md", None),
        ("2024-13-40.md", None),
        ("120241205.md", None),
        ("202412051.md", None),
        ("202412051230 買い物.md", date(2024, 12, 5)),
        ("20241205123059.md", date(2024, 12, 5)),
        ("202412052530.md", None),
        ("2024120512305.md", None),
        ("iso-2022-jp.md", None),
    ],
)
def test_a_day_in_a_files_name_is_its_date(path, day):
    assert day_in_name(path) == day


def test_front_matter_names_the_day_before_the_files_name_does():
    note = "---\ndate: 2025-06-01\n---\n本文\n"
    assert properties_of(note, front_matter(note), "2024-12-05.md").date == date(2025, 6, 1)
    assert properties_of("本文", front_matter("本文"), "2024-12-05.md").date == date(2024, 12, 5)


def test_no_tag_alias_or_value_of_a_long_front_matter_is_dropped():
    names = tuple(f"名前{number}" for number in range(500))
    lists = "\n".join(f"{key}: [{', '.join(names)}]" for key in ("tags", "aliases", "people"))
    note = f"---\n{lists}\n" + "".join(f"k{number}: v\n" for number in range(300)) + "---\n"
    found = read(note)
    assert found.tags == found.aliases == found.values["people"] == names
    assert found.values["k299"] == "v"
