"""What is written is found as it is written; what is not there is said to be absent."""

import unicodedata
from contextlib import nullcontext

from collection import Collection, filtered, imported_notes
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.search.answer import Question, search
from mdvec.search.listing import list_documents

FILLER = "この段落は、ほかのことについて書いてあります。天気や旅行や音楽の話です。" * 2
NOTES = {
    "go.md": "# Go\n\n## 接続\n\nTransport の MaxIdleConnsPerHost を既定の 2 から増やすと速い。\n",
    "fs.md": "# Rust\n\n## リンク\n\nfs::hard_link_count と read_symlink でリンクを数える。\n",
    "heater.md": "# 給湯\n\n## 型番\n\nリンナイ RUF-A2405SAW、修理は 0120-333-906 へ。\n",
    "git.md": "# Git\n\n## 設定\n\n大文字と小文字は core.ignorecase で決まる。corner に注意。\n",
    "comment.md": "# 覚え書き\n\n会議は火曜。<!-- 議題は zanzibar -->\n\n%% 下書き: quokka %%\n",
    "image.md": "# 図\n\n![部屋の間取り](img/madori_floorplan.png) を見る。\n",
    "c.md": "# C 言語\n\n## 書き方\n\nC の書き方。foo という関数を 2 回呼ぶ。飛行の予定も書く。\n",
    "cpp.md": "# 言語\n\n## 型\n\nC++ のテンプレートと React 19 の書き方。\n",
    "sum.md": "# 機械\n\n## 料金\n\nサーバーは 1,234,567 円、保守は 7654321 円。\n",
    "unspaced.md": "# 電話\n\n問い合わせは0570-088-099へ。家は9,876,543円、車は4,321円だった。\n",
    "server.md": "# 予定\n\n## 来月\n\nサーバ を借りる。か\u3099き\u3099く\u3099。\n",
    "parts.md": "# 部品\n\n型番は KX-9900、掃除機は Z-800、冷蔵庫は Y700、2024-2025 年の品。\n",
    "address.md": "# 動画\n\n[講演](https://videos.example/watch/oxDfrke8rZg?at=Q7781x) を見た。\n",
    "versions.md": "# 版\n\n15.1.3、15.3.9、1.15.3、3.15.1 を確かめた。\n",
    "update.md": "# 更新\n\nat least version 15.3.1 or newer, 全角の７．８．９ も\n",
    "people.md": "# 会議\n\n山田花子さんと鈴木太郎さん、佐藤 健さんが 13:00 に集まる。\n",
    "hosts.md": "# 機器\n\n192.168.10.254 は /etc/nginx/nginx.conf、"
    "mail は john.smith@mail.example、RFC 2119 と HTTP 404、order 48213。\n",
    **{f"filler/{number}.md": f"# 雑記 {number}\n\n{FILLER}\n" for number in range(20, 40)},
}


notes = imported_notes(NOTES)


@each(
    ("query", "file"),
    [
        ("IdleConns", "go.md"), ("MaxIdle", "go.md"), ("maxidleconnsper", "go.md"),
        ("hard_link", "fs.md"), ("hardLink", "fs.md"), ("symlink", "fs.md"),
        ("A2405", "heater.md"), ("RUF-A2405", "heater.md"), ("0120333906", "heater.md"),
        ("0120-333-906", "heater.md"), ("０１２０‐３３３‐９０６", "heater.md"),
        ("ignorecase", "git.md"), ("core.ignore", "git.md"),
        ("oxDfrke", "address.md"), ("madori_floor", "image.md"), ("間取り", "image.md"),
        ("zanzibar", "comment.md"), ("quokka", "comment.md"),
        ("01203339", "heater.md"), ("0120-3339", "heater.md"), ("C++", "cpp.md"),
        ("c++ の書き方", "cpp.md"), ("React19 の書き方", "cpp.md"),
        ("0570088099", "unspaced.md"), ("9876543", "unspaced.md"), ("4321円", "unspaced.md"),
        ("1234567", "sum.md"), ("KX-9900", "parts.md"), ("KX9900 の冷蔵庫", "parts.md"),
        ("KX-990", "parts.md"), ("Z800", "parts.md"), ("Y-700", "parts.md"),
        ("15.3.1", "update.md"), ("15.3.9", "versions.md"), ("7.8.9", "update.md"),
        ("13:00", "people.md"), ("192.168.10.254", "hosts.md"), ("nginx.conf", "hosts.md"),
        ("/etc/nginx/nginx.conf", "hosts.md"), ("john.smith@mail.example", "hosts.md"),
        ("RFC 2119", "hosts.md"), ("order 48213", "hosts.md"), ("山田花子", "people.md"),
        ("佐藤健はどこで会議", "people.md"), ("鈴木太郎さんの会議", "people.md"),
    ],
)  # fmt: skip
def test_a_part_of_an_identifier_or_a_number_finds_it(notes, query, file):
    answer = notes.search(query, mode="lexical")
    assert answer.results[0].file_path == file
    assert not any("mention" in note for note in answer.notes)


def test_digits_in_a_note_are_found_as_they_are_mostly_typed(collection):
    collection.write("a.md", "# 連絡先\n\n工務店は 0453334444 です。\n")
    collection.write("b.md", "# 別\n\n工務店の休みは水曜です。\n")
    collection.import_("new")
    assert collection.places("045-333-4444", k=1, mode="lexical") == ["a.md"]


@each(
    ("query", "absent"),
    [
        ("Spark", "Spark"), ("Spark の設定", "Spark"), ("how to configure Spark?", "Spark"),
        ("量子もつれ", "量子"), ("トレビュシェットについて教えて", "トレビュシェット"),
        ("useFooBar", "useFooBar"), ("foo2 の書き方", "foo2"), ("C# の書き方", "C#"),
        ("F# とは", "F#"), ("React20", "React20"), ("0120-444-556", "0120-444-556"),
        ("0120444556 はどこの番号", "0120444556"), ("KX-9901", "KX-9901"),
        ("型番 KX-9901 の修理", "KX-9901"), ("Z801", "Z801"), ("15.3.2", "15.3.2"),
        ("version 15.9.1 の新機能", "15.9.1"), ("192.168.10.99", "192.168.10.99"),
        ("16:30 の会議", "16:30"), ("jane.doe@mail.example", "jane.doe@mail.example"),
        ("/etc/apache/httpd.conf", "/etc/apache/httpd.conf"), ("RFC 2120", "2120"),
        ("HTTP 407", "407"), ("order 48214", "48214"), ("山田太郎", "山田太郎"),
        ("山田太郎はどこで会議", "山田太郎"), ("鈴木花子さんの予定", "鈴木花子"),
    ],
)  # fmt: skip
def test_a_word_that_no_note_has_is_said_to_be_absent(notes, query, absent):
    answer = notes.search(query)
    assert f'"{absent}"' in next(note for note in answer.notes if "nothing here mentions" in note)
    assert not answer.confident


english = imported_notes(
    {
        "a.md": "# Migration\n\nThe hard_link in a corner. Version 3. おわり。\n",
        "b.md": "# 雑記\n\nリンクの話。\n",
    }
)


@each(
    ("query", "absent"),
    [
        ("Zorbflux migration", '"Zorbflux"'), ("corner zorbflux gnorp", '"zorbflux", "gnorp"'),
        ("Terraform, corner", '"Terraform"'), ("links corners versions", ""),
        ("zorbflux gnorp", ""), ("TEMPLATE migrations", '"TEMPLATE"'),
        ("how does a zorbflux migration work", ""), ("Version 3.1 Zorbflux", '"3.1", "Zorbflux"'),
        ("corner 3.0 gnorp links", '"3.0", "gnorp"'),
    ],
)  # fmt: skip
def test_each_word_of_a_query_of_keywords_alone_is_told_if_absent(english, query, absent):
    told = [note for note in english.search(query).notes if "mention" in note]
    assert told == ([f"nothing here mentions {absent}"] if absent else [])


def test_signs_alone_are_looked_for_as_they_are_written(collection):
    texts = {"a": "🍣 を食べた。", "b": "来た → 見た", "c": "勝った // ✅ {/*x*/}"}
    for name, text in texts.items():
        collection.write(f"{name}.md", f"# {name}\n\n{text}\n\n{FILLER}\n")
    collection.import_("new")
    for signs, file in [("🍣", "a.md"), ("→", "b.md"), ("// ✅", "c.md"), ("{/*", "c.md")]:
        answer = collection.search(signs)
        assert [hit.file_path for hit in answer.results] == [file]
        assert (answer.notes[0][:26], answer.first_sentence) == ("the query is signs alone, ", None)
        assert collection.places("何", filters=filtered(exact=[signs])) == [file]
        assert file not in collection.places("何をした", filters=filtered(exclude=[signs]))
    assert not any("signs" in note for note in collection.search("🦄").notes)
    assert len(collection.search("🦄", queries=("食べた",)).results) == 3


def test_what_only_a_front_matter_has_is_not_denied(collection):
    collection.write(
        "clip.md", "---\nauthor: Jane Quill\nversion: 4.5.6\n---\n\n# Clip\n\n本文。\n"
    )
    for number in range(4):
        collection.write(f"{number}.md", "<script>let a = 'b';</script>\n")
    collection.import_("new")
    texts = {"Jane Quill": "clip.md", "let a = 'b'": "0.md, 1.md, 2.md and 1 more"}
    for words, files in texts.items():
        (note,) = collection.search("本文", filters=filtered(exact=[words])).notes[:1]
        assert note == (
            f'no passage of notes says "{words}" whole; across two passages or in what is not '
            "searched (a script, a long address, or front matter, which where reads), "
            f"it is in {files}"
        )
    assert not any("nothing here mentions" in note for note in collection.search("4.5.6").notes)
    assert collection.search("Quill", filters=filtered(exact=["Jane Quill"])).results == ()
    collection.write("said.md", "Jane Quill の記事。\n")
    collection.import_()
    listing = list_documents(collection.database, None, filtered(exact=["Jane Quill"]))
    assert [document.file_path for document in listing.documents] == ["said.md"]
    assert listing.notes == (
        'documents without a passage that says "Jane Quill" whole are not listed; across two '
        "passages or in what is not searched (a script, a long address, or front matter, which "
        "where reads), it is in clip.md",
    )
    listing = list_documents(collection.database, None, filtered(exact=["Jane Quill", "記事"]))
    assert (len(listing.documents), listing.notes) == (1, ())  # clip.md lacks 記事, too
    both = filtered(exact=["Jane Quill", "4.5.6"])
    collection.write("both.md", "Jane Quill の版 4.5.6。\n")
    collection.import_()
    notes = list_documents(collection.database, None, both).notes
    assert [note[-16:] for note in notes] == ["it is in clip.md"] * 2
    with open_database(collection.database, "write") as connection:
        connection.execute("UPDATE documents_notes SET size = 70000000 WHERE file_path = 'clip.md'")
    assert list_documents(collection.database, None, both).notes == (
        "whether other documents have the exact texts outside of passages was not checked; the "
        "files were too long to read",
    )


def test_a_word_in_full_width_is_not_denied_where_only_the_texts_themselves_have_it(collection):
    collection.write("a.md", "<script>let brffu = 888;</script>\n\n本文。\n")
    collection.import_("new")
    for query in ("ｂｒＦＦｕ", "８８８の本文"):
        assert not any("nothing here mentions" in note for note in collection.search(query).notes)


def test_a_later_part_of_a_block_of_code_is_found_though_it_has_tags_alone(collection):
    for letter, mark in (("a", "```"), ("b", "~~~xml")):
        tags = "\n".join(f'<field name="{letter}{number}"/>' for number in range(90))
        text = f"# 形式\n\n{mark}\n{tags}\n{mark[:3]}\n\n<!-- x -->\n"
        collection.write(f"{letter}.md", text)
    collection.import_("new")
    for name in ("a7", "a45", "a89", "b7", "b45", "b89"):
        (hit,) = collection.search("形式", filters=filtered(exact=[f'"{name}"'])).results
        assert hit.file_path == f"{name[0]}.md"
    assert '"b45"' in collection.search("b45", k=1, mode="lexical").results[0].content


def test_the_times_of_a_pasted_log_are_not_looked_for(notes):
    log = (
        "2025-11-01 10:00:01.5 error 12.7.1 10:00:02.7 retry 3.3.3 Transport MaxIdleConnsPerHost "
        * 2
    )
    denied = [note for note in notes.search(log).notes if "nothing here mentions" in note]
    assert denied == ['nothing here mentions "error", "retry"']


@each("query", ["2024-2025 年の型番", "2025-26 年の型番", "1,230,000 円", "videos.example"])
def test_what_may_be_written_otherwise_or_is_not_indexed_is_not_denied(notes, query):
    assert not any("mention" in note for note in notes.search(query).notes)


def test_a_compound_with_a_part_that_no_note_has_is_named_whole(notes):
    (note,) = notes.search("未確認飛行物体について教えて").notes[:1]
    assert note == 'nothing here mentions "未確認飛行物体"'


def test_a_word_whose_parts_are_in_the_notes_is_absent_all_the_same(collection):
    collection.write("a.md", "# 荷物\n\n冷蔵便を頼んだ。金庫の番号を変えた。\n")
    collection.write("b.md", "# 書類\n\n確定した日を書き、期限までに申告した。\n")
    collection.import_("new")
    for query, noun in [("冷蔵庫", "冷蔵庫"), ("冷蔵庫の掃除", "冷蔵庫"), ("確定申告", "確定申告")]:
        answer = collection.search(query)
        assert answer.notes[0].startswith(f'nothing here mentions "{noun}"')
        assert not (query == noun == "冷蔵庫" and answer.confident)
    collection.write("c.md", "# 台所\n\n新しい冷蔵庫内の棚を拭いた。\n")
    collection.import_("update")
    answer = collection.search("冷蔵庫")
    assert answer.results[0].file_path == "c.md"
    assert not any("mentions" in note for note in answer.notes)


@each("query", ["ignorcase", "Ignorcase の設定"])
def test_a_near_spelling_is_searched_instead_and_never_makes_an_answer_confident(notes, query):
    answer = notes.search(query, mode="lexical")
    assert answer.results[0].file_path == "git.md"
    assert not answer.confident
    assert any(
        "words like" in note and note.endswith("instead: ignorecase") for note in answer.notes
    )


def test_a_name_only_inside_longer_words_is_found_but_no_confident_answer(notes):
    answer = notes.search("Corne", mode="lexical")
    assert answer.results[0].file_path == "git.md"
    assert not answer.confident
    assert answer.notes[0] == '"Corne": only inside longer words'
    assert notes.search("IdleConns").confident


AMID_OTHERS = {
    "人参": "外国人参政権の議論を読んだ。",  # Sudachi reads 外国・人参・政権
    "京都": "東京都庁の展望室に行った。",
    "ポート": "パスポートの更新に行った。",
}


def test_letters_across_or_amid_other_words_are_no_confident_answer(collection):
    for number in range(60):
        collection.write(f"{number}.md", f"# 買い物 {number}\n\n牛乳とパンを買った。\n")
    for number, text in enumerate(AMID_OTHERS.values()):
        collection.write(f"diary {number}.md", f"# 日記\n\n{text}\n")
    collection.import_("new")
    for number, word in enumerate(AMID_OTHERS):
        answer = collection.search(word)
        assert answer.results[0].file_path == f"diary {number}.md"
        assert not answer.confident
        assert answer.notes[0] == f'"{word}": only inside longer words'
        collection.write(f"soup {number}.md", f"# スープ\n\n{word}のことを書いた。\n")
    collection.import_("update")
    for number, word in enumerate(AMID_OTHERS):
        answer = collection.search(word)
        assert (answer.results[0].file_path, answer.confident) == (f"soup {number}.md", True)
        assert not any("inside" in note for note in answer.notes)


def test_a_word_amid_another_one_comes_behind_the_word_itself_however_short_its_note(collection):
    for number in range(3):
        collection.write(f"{number}.md", f"外国人参政権について話した、{number} 回目。\n")
    for number in range(60):
        collection.write(f"walk {number}.md", f"散歩をした。{number} 番目の公園で犬を見た。\n")
    dinner = "にんじんを3本買い、人参のグラッセを作る。そのあと友人に電話し、予定を相談した。"
    collection.write("dinner.md", f"# 覚え書き\n\n昨日は雨で家にいた。{dinner}\n")
    collection.import_("new")
    for mode in ("hybrid", "lexical"):
        first, *others = collection.search("人参", k=4, mode=mode).results
        assert first.file_path == "dinner.md"
        assert first.score > 0.5 > 0.2 > max(hit.score for hit in others)


@each("query", ["!!!", "???", "……", "🍙"])
def test_signs_alone_are_no_question_to_be_sure_of(notes, query):
    assert not notes.search(query).confident


plugins = imported_notes(
    {
        **{f"{at}.md": f"# Jenkins kubernetes plugin {at}\n\n設定 {at}\n" for at in range(3)},
        "ci.md": "# CI\n\nJenkins のジョブは夜に回す。googleトレンドも見る。\n",
        "ｇｉｔ.md": "# Git\n\n`git   worktree add` で枝を増やす。食費管理。\n",
        "go.md": "# 言語\n\nGo と Jenkins。\n",
    }
)


@each("mode", ["hybrid", "lexical", "vector"])
def test_an_excluded_word_is_in_no_hit_and_the_answer_says_so(plugins, mode):
    answer = plugins.search("Jenkins", k=10, filters=filtered(exclude=["Kubernetes"]), mode=mode)
    assert {hit.file_path for hit in answer.results} >= {"ci.md", "go.md"}
    assert not any("kubernetes" in hit.title for hit in answer.results)
    assert '"Kubernetes" excluded 3 passages of notes' in answer.notes


def test_an_excluded_text_is_told_once_if_no_tool_has_it_and_else_of_those_that_do(plugins):
    others = Collection(plugins.folder.parent / "others", plugins.database, name="others")
    others.write("a.md", "# Jenkins\n\nJenkins の話。\n")
    others.import_("new")
    asked = Question("Jenkins", None, 5, filters=filtered(exclude=["zzz", "夜"]))
    answer = search(plugins.database, asked, lambda _: nullcontext(Embedder(plugins.backend)))
    told = [note for note in answer.notes if "excluded" in note]
    assert told == ['"zzz" excluded nothing', '"夜" excluded 1 passage of notes']


def test_an_excluded_word_in_letters_is_a_whole_word(plugins):
    answer = plugins.search("Jenkins", k=10, filters=filtered(exclude=["go"]), mode="lexical")
    assert "ci.md" in {hit.file_path for hit in answer.results}
    assert "go.md" not in {hit.file_path for hit in answer.results}


@each(
    ("exact", "files"),
    [
        (["git worktree"], {"ｇｉｔ.md"}), (["ＧＩＴ Worktree"], {"ｇｉｔ.md"}),
        (["worktree git"], set()), (["費管"], {"ｇｉｔ.md"}), (["Jenkins", "夜"], {"ci.md"}),
        (["orktre"], {"ｇｉｔ.md"}), (["plugin 2"], {"2.md"}), (["ci.MD"], {"ci.md"}),
        (["git.md"], {"ｇｉｔ.md"}), (["ci.mdx"], set()), (["i.m"], set()),
        (["夜", "ci.md"], {"ci.md"}),
    ],
)  # fmt: skip
def test_an_exact_text_is_in_every_hit(plugins, exact, files):
    answer = plugins.search("Jenkins の設定", k=10, filters=filtered(exact=exact))
    assert {hit.file_path for hit in answer.results} == files
    if not files:
        assert f'nothing in notes says "{exact[0]}" as it is written' in answer.notes


def test_a_file_is_excluded_and_listed_by_its_whole_name(plugins):
    rest = plugins.places("Jenkins", k=10, filters=filtered(exclude=["ci.md"]), mode="lexical")
    assert "ci.md" not in rest
    listing = list_documents(plugins.database, None, filtered(exact=["ci.md"]))
    assert [document.file_path for document in listing.documents] == ["ci.md"]


@each(
    ("exact", "files"),
    [
        ("サーバ", {"sum.md", "server.md"}), ("がぎぐ", {"server.md"}), ("1234567", {"sum.md"}),
        ("保守は 7,654,321 円", {"sum.md"}), ("修理は 0120333906 へ", {"heater.md"}),
        ("C++", {"cpp.md"}), ("madori_floorplan.png", {"image.md"}), ("234,567", {"sum.md"}),
        ("12345", set()), ("0570088099", {"unspaced.md"}), ("家は9876543円", {"unspaced.md"}),
    ],
)  # fmt: skip
def test_an_exact_text_is_found_in_any_spelling_of_the_same_signs(notes, exact, files):
    answer = notes.search("講演の費用", k=20, filters=filtered(exact=[exact]))
    assert {hit.file_path for hit in answer.results} == files
    listing = list_documents(notes.database, None, filtered(exact=[exact]))
    assert [document.file_path for document in listing.documents] == sorted(files)


def test_exact_letters_do_not_match_across_the_hyphens_of_an_address(collection):
    collection.write("link.md", "[計画](https://example.test/how-up-to-date-is) の話。\n")
    collection.write("PTO.md", "休暇の話。\n")
    collection.write("text.md", "ＰＴＯ の話。\n")
    collection.import_("new")
    listed = list_documents(collection.database, None, filtered(exact=["PTO"]))
    assert {document.file_path for document in listed.documents} == {"PTO.md", "text.md"}


def test_an_index_of_the_format_before_lets_no_excluded_text_through(tmp_path, monkeypatch):
    from mdvec.index import tables
    from mdvec.text import fields, readable

    with monkeypatch.context() as before:
        before.setattr(tables, "_WORDS_FORMAT", 2)
        before.setattr(fields, "joined_words", lambda text: [])
        before.setattr(readable, "_UNSEEN", readable.re.compile("(?!)"))
        paths = ("heater.md", "comment.md", "image.md")
        old = Collection.of(tmp_path, {path: NOTES[path] for path in paths})
    excluded = {"0120333906": "heater.md", "ZANZIBAR": "comment.md", "madori_floorplan": "image.md"}
    for words, path in excluded.items():
        assert not any("mention" in note for note in old.search(words).notes)
        answer = old.search("型番と会議と部屋", k=9, filters=filtered(exclude=[words]))
        assert path not in {hit.file_path for hit in answer.results}
        assert f'"{words}" excluded 1 passage of notes' in answer.notes


@each("said", ["videos.example/watch", "at=Q7781x", "ＡＴ＝ｑ７７８１Ｘ"])
def test_an_exact_address_is_found_where_the_index_does_not_look(notes, said):
    answer = notes.search("講演", filters=filtered(exact=[said]))
    assert [hit.file_path for hit in answer.results] == ["address.md"]


def test_the_same_text_in_several_files_is_one_hit_that_names_the_others(collection):
    for name in ("a.md", "写し/a.md", "c.md"):
        collection.write(name, "# 規約\n\n返品は三十日以内に受け付けます。\n")
    collection.write("d.md", "# 規約\n\n返品の送料は店が持ちます。[[写し/a]] も同じ。\n")
    collection.import_("new")
    answer = collection.search("返品はいつまで", k=5)
    assert [hit.file_path for hit in answer.results] == ["a.md", "d.md"]
    assert answer.results[0].also_in == ("c.md:1-3", "写し/a.md:1-3 (linked from d.md)")
    assert answer.results[1].also_in == ()
    collection.write("0.md", "# 規約\n\n返品は三十日以内に受け付けます。\n")
    collection.import_()
    updated = collection.search("返品はいつまで", k=5).results
    collection.import_("replace")
    assert collection.search("返品はいつまで", k=5).results == updated
    assert updated[0].file_path == "0.md"


CLAUSE = "## 料金\n\n6.8 未払いの手数料には利息が課される。" + "控除の要件は顧客が確かめます。" * 11
ADDED = "6.9 源泉徴収の控除要件は新しい注文に適用される。" + "価格の更新は料金に響きません。" * 11


def test_a_text_joined_from_neighbours_names_as_the_same_only_what_has_all_of_it(collection):
    collection.write("v4.md", f"# 契約\n\n{CLAUSE}\n")
    for version in ("v7", "v8"):
        collection.write(f"{version}.md", f"# 契約\n\n{CLAUSE}\n\n{ADDED}\n")
    collection.import_("new")
    for question in ("利息と源泉徴収の控除要件", "源泉徴収の控除要件"):
        (hit,) = collection.search(question, k=5).results
        assert (hit.file_path, hit.start_line, hit.end_line) == ("v7.md", 1, 7)
        assert hit.also_in == ("v8.md:1-7", "v4.md:1-5 (in part)")


def test_a_query_finds_twins_of_composed_and_decomposed_kana_and_shows_the_text_once(collection):
    text = "# ガイド\n\nパンフレットは玄関の棚にある。\n"
    collection.write("ガ.md", text)
    collection.write(unicodedata.normalize("NFD", "ガ.md"), unicodedata.normalize("NFD", text))
    collection.import_("new")
    paths = {path for (path,) in collection.rows("SELECT file_path FROM documents_notes")}
    for form in ("NFC", "NFD"):
        (hit,) = collection.search(unicodedata.normalize(form, "パンフレット")).results
        assert {hit.file_path, hit.also_in[0].partition(":")[0]} == paths


DENIED = ["献血", "確定申告", "離乳食", "登山靴", "味噌汁"]


walks = imported_notes(
    {
        **{f"{at}.md": f"散歩をした。{at} 番目の公園で犬を見た。設定も。\n" for at in range(60)},
        "a.md": "金額は確定。登山した。食べた靴は別。申告は春。食の設定を変えた。\n",
    }
)


@each("asked", ["{}", "{}の設定方法を教えて", "前に{}について調べたときのことはどこ"])
@each("noun", DENIED)
def test_a_noun_that_no_text_has_is_named_in_whatever_sentence(walks, noun, asked):
    assert f'nothing here mentions "{noun}"' in walks.search(asked.format(noun)).notes


@each("asked", ["散歩は投票しましたか", "公園で犬を散策できますか", "犬をご紹介ください"])
def test_a_verb_is_no_noun_that_is_missed(walks, asked):
    assert not any("mentions" in note for note in walks.search(asked).notes)
