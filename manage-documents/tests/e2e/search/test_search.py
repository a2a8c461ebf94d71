"""`mdvec search`: the server's answer, as lines or as JSON."""

import re

from mdvec.manage.registering import add_tool, set_active

HIT_KEYS = {
    "tool", "file_path", "title", "tags", "date", "heading", "content", "score", "chunk_index",
    "start_position", "end_position", "start_line", "end_line", "truncated", "next_position",
    "found_by", "also_in", "links_to", "linked_from", "goes_on", "pages", "first_page",
    "description",
}  # fmt: skip


def test_hits_are_shown_as_lines_or_as_json_and_explained_when_asked(notes):
    query = "一人一日三リットルの水"
    plain, as_json, explained, section = notes.each(
        ["search", query, "-n", "notes", "-k", "2"],
        ["search", query, "--format", "json", "--explain", "--mode", "lexical"],
        ["search", query, "--explain", "-k", "1"],
        ["search", query, "--return", "document", "-k", "1", "--format", "json"],
    )
    assert [done.code for done in (plain, as_json, explained, section)] == [0] * 4
    assert [done.err for done in (plain, as_json, explained, section)] == [""] * 4
    lines = plain.out.splitlines()
    assert re.fullmatch(r"\[1\] [01]\.\d\d  notes: water\.md:1-3  水の備え", lines[0])
    assert "    # 水の備え" in lines
    assert len([line for line in lines if line.startswith("[")]) == 2

    found = as_json.json
    assert (found["tools"], found["query"], found["total_chunks"]) == (["notes"], query, 4)
    assert (found["truncated"], found["notes"]) == (
        False,
        ["no other passage stands out for this question"],
    )
    best = found["results"][0]
    assert set(best) == HIT_KEYS | {"explanation"}
    assert (best["tool"], best["file_path"]) == ("notes", "water.md")
    assert best["explanation"]["lexical_rank"] == 1
    assert best["explanation"]["cosine"] is None
    assert found["seconds"]["lexical_search"] >= 0
    assert "query_embedding" not in found["seconds"]

    for line, part in zip(
        explained.out.splitlines()[1:],
        (
            r"words: rank 1, score 0\.\d+; the passage has \d+% of what .*, its title .* \d+%",
            r"matched words: .*リットル.*; as spelled in the question: 一人一日三リットル, 水",
            r"vectors: rank \d, cosine 0\.\d",
            r"together: 0\.\d{4} × words \+ 0\.\d{4} × vectors = 0\.\d{4}; likely to answer: \d+%",
        ),
        strict=False,
    ):
        assert re.search(part, line)
    assert re.search(r"judged by: at most \d+% of the question in one of", explained.out)
    assert "query_embedding" in explained.out

    (whole,) = section.json["results"]
    assert set(whole) == HIT_KEYS
    assert whole["content"] == (notes.docs / "water.md").read_bytes().decode()


def test_a_search_is_narrowed_by_path_tags_and_days(mdvec, fill):
    mdvec.write("a/plan.md", "---\ntags: [会議, 計画]\ndate: 2025-06-01\n---\n計画の話。")
    mdvec.write("a/more.md", "---\ntags: 会議\ndate: 2025-07-01\n---\n計画の話。")
    mdvec.write("b/plan.md", "計画の話。")
    fill()
    both, one, none, wrong = mdvec.each(
        ["search", "計画", "--path", "a/", "--tag", "会議", "--sort", "newest"],
        ["search", "計画", "--tag", "会議", "--tag", "計画", "--until", "2025年6月"],
        ["search", "計画", "--tag", "会議室"],
        ["search", "計画", "--since", "いつか"],
    )
    newest = mdvec("search", "--sort", "newest")
    assert [line.split()[1] for line in newest.out.splitlines()][:2] == ["a/more.md", "a/plan.md"]
    shown = [line.partition("  ")[2] for line in both.out.splitlines() if line.startswith("[")]
    assert shown == [
        "notes: a/more.md:5-5  (#会議 2025-07-01)",
        "notes: a/plan.md:5-5  (#会議 #計画 2025-06-01)",
    ]
    assert one.out.count("notes: ") == 1
    assert 'no note of notes has the tag 会議室; similar tags: "会議"' in none.err
    assert (wrong.code, "give it as 2025-06-01" in wrong.err) == (2, True)


def test_a_question_without_an_answer_is_said_to_have_none(notes):
    shown, as_json, answered = notes.each(
        ["search", "量子もつれの観測装置と冷凍機", "-n", "notes"],
        ["search", "量子もつれの観測装置と冷凍機", "-n", "notes", "--format", "json"],
        ["search", "水の備え", "-n", "notes", "--format", "json"],
    )
    assert "nothing here seems to answer this; the nearest passages follow" in shown.err
    assert shown.out.startswith("[1] ")
    assert [as_json.json["confident"], answered.json["confident"]] == [False, True]
    assert as_json.json["results"][0]["score"] < 0.25 < answered.json["results"][0]["score"]


def test_what_cannot_be_searched_is_said_in_one_line(notes):
    add_tool(notes.database, "empty", "d", notes.docs, "markdown")
    add_tool(notes.database, "off", "d", notes.docs, "markdown")
    set_active(notes.database, "off", active=False)
    empty, off, many, blank = notes.each(
        ["search", "水", "-n", "empty"],
        ["search", "水", "-n", "off"],
        ["search", "水", "-k", "51"],
        ["search", " "],
    )
    assert (empty.code, empty.out) == (0, "")
    assert empty.err == "empty: no documents yet; import them with: mdvec import -n empty\n"
    for done, code, words in (
        (off, 1, "enable it with: mdvec tool enable -n off"),
        (many, 2, "value for '--k' / '-k': it cannot be 51; allowed: 1 to 50 hits; see: mdvec s"),
        (blank, 2, "Invalid value for query: it is blank; ask something"),
    ):
        assert (done.code, done.out) == (code, "")
        assert done.err.startswith("error: ")
        assert words in done.err
        assert done.err.count("\n") == 1


def test_without_an_active_tool_it_says_how_to_add_one(mdvec):
    add_tool(mdvec.database, "off", "d", mdvec.docs, "markdown")
    set_active(mdvec.database, "off", active=False)
    done = mdvec("search", "水")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("no tool with texts is active; add one with: mdvec tool add")


def test_signs_and_options_say_what_must_and_must_not_be_in_a_passage(mdvec, fill):
    for number in range(3):
        mdvec.write(f"{number}.md", f"# Jenkins kubernetes plugin {number}\n\n設定の話。\n")
    lines = "\n\n".join(f"{number} 行目。" for number in range(7))
    mdvec.write("night.md", f"# 夜のジョブ\n\nJenkins を夜に回す。\n\n{lines}\n")
    mdvec.write("other.md", "# ほか\n\nJenkins を朝に回す。\n")
    fill()
    typed, options, exact, several, alone = mdvec.each(
        ["search", "Jenkins -Kubernetes -朝"],
        ["search", "Jenkins", "--exclude", "Kubernetes", "--exclude", "朝"],
        ["search", 'ジョブ "夜に回す" path:*.md', "-m", "lexical"],
        ["search", "plugin", "--also", "ジョブ", "-k", "4"],
        ["search", "--also", "plugin", "--also", "ジョブ", "-k", "4"],
    )
    for done in (typed, options):
        (head,) = [line for line in done.out.splitlines() if line.startswith("[")]
        assert "night.md:1-17" in head
        assert 'note: "Kubernetes" excluded 3 passages of notes\n' in done.err
    assert "night.md" in exact.out
    assert "other.md" not in exact.out
    assert re.search(r"night\.md:.*\[found by ジョブ\]", several.out)
    assert alone.out == several.out
    assert re.search(r"plugin \d  \[found by plugin\]", several.out)
    assert "    … 1 more line" in several.out.splitlines()
    also = "search", "plugin", "--also", "ジョブ", "-k", "4"
    in_japanese = mdvec(*also, MDVEC_DISPLAY_LANGUAGE="ja").out
    assert re.search(r"night\.md:.*\[ジョブ で見つかりました\]", in_japanese)
    assert "    … ほか 1 行" in in_japanese.splitlines()


def test_without_a_query_the_documents_that_pass_are_listed(mdvec, fill):
    mdvec.write(
        "a.md", "---\ntags: [会議]\nstatus: open\ndate: 2025-06-01\n---\n[[b]]\n\n- [ ] 送る\n"
    )
    mdvec.write("b.md", "---\ntags: 会議\nstatus: done\n---\n議事録。\n")
    fill()
    tagged, typed, status, tasks, linking, as_json, any_status, related, blank = mdvec.each(
        ["search", "--tag", "会議"],
        ["search", "tag:会議"],
        ["search", "--where", "status=done", "--where", "tags"],
        ["search", "--tasks"],
        ["search", "--links-to", "b.md"],
        ["search", "--where", "status", "--format", "json"],
        ["search", "--where", "Status", "--where", "tags=会議"],
        ["search", "--related-to", "b.md", "-m", "lexical"],
        ["search"],
    )
    assert tagged.out == typed.out
    assert "notes: a.md  a 2025-06-01 #会議\n" in tagged.out
    assert "2 documents of notes\n" in tagged.err
    assert [line.split()[1] for line in status.out.splitlines()] == ["b.md"]
    assert "1 document of notes, with 1 open task\n" in tasks.err
    assert tasks.out.splitlines()[-1] == "    8: 送る"
    assert [line.split()[1] for line in linking.out.splitlines()] == ["a.md"]
    assert (as_json.json["total"], as_json.json["pages"]) == (2, 1)
    assert "  a 2025-06-01 #会議 Status=open\n" in any_status.out
    assert any_status.out.endswith("  b #会議 Status=done\n")
    assert related.code == 0
    assert "b.md" not in related.out
    assert blank.code == 2
    assert "ask something, or filter" in blank.err
