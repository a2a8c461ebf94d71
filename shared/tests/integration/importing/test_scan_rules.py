"""A tool's own scan rules: an import under other settings deletes nothing and says so."""

from dataclasses import replace

import pytest
from collection import RULES, Collection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.files.scanning import scan
from mdvec.importing.job import ImportReport
from mdvec.importing.text_index import TextIndex
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool

NOTHING_SET: frozenset[str] = frozenset()
EVERYTHING = frozenset({"extensions", "exclude", "max_bytes"})


def import_(
    collection: Collection, mode="update", explicit=EVERYTHING, take_scan=False, **rules
) -> tuple[ImportReport, list[str]]:
    """Import under these settings; returns the report and the notices."""
    said: list[str] = []
    request = replace(
        collection.request(mode),
        rules=replace(RULES, **rules),
        scan_explicit=explicit,
        take_scan=take_scan,
    )
    model = Embedder(collection.backend)
    return import_tool(request, lambda _: model, on_notice=said.append), said


def held(collection: Collection) -> list[str]:
    return [path for (path,) in collection.rows("SELECT file_path FROM documents_notes ORDER BY 1")]


def set_patterns(collection: Collection, **patterns: tuple[str, ...]) -> None:
    changed = registering.FilePatterns(RULES, **patterns)
    registering.update_tool(collection.database, "notes", None, None, patterns=changed)


@pytest.fixture
def mixed(collection):
    """Documents with two endings, one of them in a subfolder."""
    for path in ("a.md", "b.mdx", "drafts/c.md"):
        collection.write(path, f"# {path}\n\n言葉。\n")
    return collection


def test_an_ending_removed_from_the_settings_deletes_nothing_and_is_reported(mixed):
    import_(mixed, "new", extensions=(".md", ".mdx"))
    report, said = import_(mixed, explicit=NOTHING_SET)
    assert (report.deleted, report.unchanged) == (0, 3)
    assert said == [
        "the tool 'notes' keeps its own [scan] settings (extensions = [.md, .mdx], not "
        "[.md, .markdown, .txt]); to use the current ones: "
        "mdvec import -n notes --mode update --take-scan"
    ]


def test_a_rebuild_keeps_the_rules_and_names_those_of_the_settings(mixed):
    import_(mixed, "new", extensions=(".md", ".mdx"))
    for explicit in (NOTHING_SET, EVERYTHING):
        _, said = import_(mixed, "replace", explicit=explicit, exclude=("drafts/",))
        assert held(mixed) == ["a.md", "b.mdx", "drafts/c.md"]
        assert "exclude = [], not [drafts/]" in said[0]
    _, said = import_(mixed, "replace", take_scan=True, exclude=("drafts/",))
    assert (held(mixed), said) == (["a.md"], [])


def test_what_was_stated_for_a_tool_stays_whatever_the_settings_say(mixed):
    mixed.write("private/p.md", "# p\n\n秘密。\n")
    mixed.write("tool.py", "print('言葉')\n")
    set_patterns(mixed, exclude=("private/",), endings=(".py",))
    scan_settings = {"exclude": ("drafts/",), "extensions": (".md",)}
    about = (
        "the tool 'notes' keeps its own exclude [private/], not that of [scan], [drafts/]; "
        "to change it: mdvec tool update -n notes --exclude …"
    )
    for options, notices in (
        ({"mode": "new"}, [about]),
        ({}, [about]),
        ({"mode": "replace"}, [about]),
        ({"take_scan": True}, [about]),
        ({"mode": "replace", "take_scan": True}, [about]),
    ):
        _, said = import_(mixed, **options, **scan_settings)
        assert (held(mixed), said) == (["a.md", "drafts/c.md", "tool.py"], notices), options
    set_patterns(mixed, exclude=("",), endings=())
    for options, paths, notices in (
        ({}, ["a.md", "drafts/c.md", "private/p.md"], [about.replace("[private/]", "[]")]),
        ({"take_scan": True}, ["a.md", "private/p.md"], []),
    ):
        _, said = import_(mixed, **options, **scan_settings)
        assert (held(mixed), said) == (paths, notices)


def forget_origins(collection: Collection) -> None:
    """Leave the rules as an older version stored them."""
    with open_database(collection.database, "write") as connection:
        connection.execute(
            "UPDATE tools SET scan = json_remove(scan, '$.has_own_exclude', '$.formats')"
        )


def test_rules_stored_without_their_origin_are_only_added_to(mixed):
    mixed.write("private/p.md", "# p\n\n秘密。\n")
    mixed.write("tool.py", "print('言葉')\n")
    set_patterns(mixed, exclude=("private/",), endings=(".py",))
    import_(mixed, "new")
    forget_origins(mixed)
    set_patterns(mixed, include=("*",))
    how = "to change it: mdvec tool update -n notes --exclude …"
    keeps = "the tool 'notes' keeps its own exclude [private/], not that of [scan], "
    for options, paths, notices in (
        ({}, ["a.md", "drafts/c.md", "tool.py"], [f"{keeps}[]; {how}"]),
        ({"exclude": ("drafts/", "!private/")}, ["a.md", "drafts/c.md", "tool.py"],
         [f"{keeps}[drafts/, !private/]; {how}"]),
        ({"exclude": ("drafts/", "!private/"), "take_scan": True}, ["a.md", "tool.py"],
         ["the tool 'notes' now excludes [private/, drafts/]: what it did before, and what [scan] "
          f"does, [drafts/, !private/]; {how}"]),
        ({"exclude": ("drafts/",)}, ["a.md", "tool.py"], []),
    ):  # fmt: skip
        _, said = import_(mixed, **options)
        assert (held(mixed), said) == (paths, notices), options
    set_patterns(mixed, endings=())
    import_(mixed)
    assert held(mixed) == ["a.md"]


def test_a_pattern_of_scan_that_was_stored_without_its_origin_is_again_one_of_scan(mixed):
    import_(mixed, "new", exclude=("drafts/",))
    forget_origins(mixed)
    wider = {"exclude": ("drafts/", "b.*"), "extensions": (".md", ".mdx")}
    assert import_(mixed, take_scan=True, **wider)[1] == []
    assert import_(mixed, take_scan=True)[1] == []
    assert held(mixed) == ["a.md", "drafts/c.md"]


def test_formats_that_were_added_are_taken_away_but_no_default(mixed):
    set_patterns(mixed, endings=(".txt", ".py"))
    set_patterns(mixed, endings=())
    mixed.write("a.txt", "言葉。\n")
    mixed.write("tool.py", "print('言葉')\n")
    import_(mixed)
    assert held(mixed) == ["a.md", "a.txt", "drafts/c.md"]


def test_an_import_names_only_settings_that_differ_from_those_of_the_first(mixed):
    import_(mixed, "new")
    set_patterns(mixed, exclude=("drafts/",), include=("*.md",), endings=(".py",))
    assert import_(mixed)[1] == []
    _, (notice,) = import_(mixed, max_bytes=77)
    assert notice.startswith("the tool 'notes' keeps its own [scan] settings (max_bytes = ")
    assert "exclude" not in notice
    assert "extensions" not in notice


def test_take_scan_stores_the_current_rules(mixed):
    import_(mixed, "new", extensions=(".md", ".mdx"))
    report, said = import_(mixed, take_scan=True, explicit=NOTHING_SET)
    assert (report.deleted, report.chunks_embedded, said) == (1, 0, [])
    report, said = import_(mixed, explicit=NOTHING_SET)
    assert (report.deleted, held(mixed), said) == (0, ["a.md", "drafts/c.md"], [])


def test_a_continued_import_uses_the_rules_of_the_stopped_one(mixed):
    for number in range(20):
        mixed.write(f"{number:02}.mdx", f"# {number}\n\n言葉。\n")
    request = replace(mixed.request("new"), rules=replace(RULES, extensions=(".mdx",)))
    done = []

    def stop(progress) -> None:
        done.append(progress)
        if progress.files_done == 5:
            raise KeyboardInterrupt

    with pytest.raises(Exception, match="stopped after 5 of 21 files"):
        import_tool(request, lambda _: Embedder(mixed.backend), on_progress=stop)
    assert len(held(mixed)) == 5
    import_(mixed, explicit=NOTHING_SET)
    assert len(held(mixed)) == 21


@pytest.mark.parametrize("mode", ["new", "replace"])
def test_ctrl_c_between_a_files_commit_and_its_count_names_that_file_too(mixed, mode, monkeypatch):
    for number in range(20):
        mixed.write(f"{number:02}.md", f"# {number}\n\n言葉。\n")
    if mode == "replace":
        import_(mixed, "new")
    put, stored = TextIndex.put, []

    def put_and_stop(self, document) -> None:
        put(self, document)
        stored.append(document)
        if len(stored) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(TextIndex, "put", put_and_stop)
    with pytest.raises(Exception, match="stopped after 6 of "):
        import_(mixed, mode)


def test_a_refused_import_changes_no_rules(mixed):
    import_(mixed, "new", extensions=(".md", ".mdx"))
    with pytest.raises(Exception, match="has 3 documents already"):
        import_(mixed, "new", take_scan=True)
    assert import_(mixed, explicit=NOTHING_SET)[0].deleted == 0


ENDINGS = (".md", ".mdx", ".txt", ".rst")
RULES_IN_FORCE = st.fixed_dictionaries(
    {
        "extensions": st.lists(st.sampled_from(ENDINGS), min_size=1, unique=True).map(tuple),
        "exclude": st.lists(
            st.sampled_from(["f1/", "*.mdx", "!f1/n1.mdx", "n0.*", "/f0/"]), unique=True
        ).map(tuple),
        "max_bytes": st.sampled_from([40, 10_000]),
    }
)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=RULES_IN_FORCE, later=st.lists(RULES_IN_FORCE, max_size=3))
def test_later_settings_never_change_which_documents_the_first_rules_included(
    tmp_path_factory, first, later
):
    folder = tmp_path_factory.mktemp("any")
    collection = Collection(folder / "notes", folder / "vectors.sqlite")
    for number, ending in enumerate(ENDINGS):
        collection.write(f"f{number % 2}/n{number}{ending}", "言葉。" * (3 + 10 * (number % 3)))
    import_(collection, "new", **first)
    wanted = [file.path for file in scan(collection.folder, replace(RULES, **first), "notes").files]
    assert held(collection) == wanted
    for rules in later:
        report, said = import_(collection, **rules)
        assert report.deleted == 0
        assert held(collection) == wanted
        assert len(said) <= 1


def test_patterns_set_for_a_tool_decide_which_files_its_next_import_takes(collection):
    for path in ("a.md", "drafts/b.md", "work/c.md", "work/d.txt"):
        collection.write(path, f"# {path}\n\n本文。\n")
    collection.import_("new")

    def taken(**patterns):
        set_patterns(collection, **patterns)
        collection.import_()
        return [row[0] for row in collection.contents()]

    assert taken(exclude=("drafts/",)) == ["a.md", "work/c.md", "work/d.txt"]
    assert taken(include=("work/", "a.*")) == ["a.md", "work/c.md", "work/d.txt"]
    assert taken(include=("*.txt",)) == ["work/d.txt"]
    assert taken(include=("",)) == ["a.md", "work/c.md", "work/d.txt"]
    assert taken(exclude=()) == ["a.md", "drafts/b.md", "work/c.md", "work/d.txt"]
    with pytest.raises(registering.InvalidTool, match="drafts/"):
        taken(include=("a\\",))


@pytest.mark.parametrize("mode", ["new", "update", "replace"])
def test_patterns_set_while_an_import_runs_are_those_of_the_next(mixed, mode):
    if mode != "new":
        mixed.import_("new")
        mixed.write("d.md", "# d.md\n\n言葉。\n")
    request = replace(mixed.request(mode), rules=RULES)

    def change(_) -> None:
        set_patterns(mixed, exclude=("drafts/",))

    import_tool(request, lambda _: Embedder(mixed.backend), on_progress=change)
    assert "drafts/c.md" in held(mixed)
    mixed.import_()
    assert "drafts/c.md" not in held(mixed)
