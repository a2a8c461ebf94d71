"""What a typed query states by its signs, and what stays text."""

from table_of_cases import each

from mdvec.search.core.typed import TypedQuery, looks_like_code, signs_read_as_text, typed_query


@each(
    ("text", "stated"),
    [
        ("Jenkins -Kubernetes", TypedQuery("Jenkins", exclude=("Kubernetes",))),
        ("食費\u3000-外食 -交際費", TypedQuery("食費", exclude=("外食", "交際費"))),
        ('c -"a b"', TypedQuery("c", exclude=("a b",))),
        ("食費 \u2212外食 \uff0d交際費", TypedQuery("食費", exclude=("外食", "交際費"))),
        ('"git worktree"の使い方', TypedQuery("git worktree の使い方", exact=("git worktree",))),
        ("設定の“core.ignore”とは", TypedQuery("設定の core.ignore とは", exact=("core.ignore",))),
        ("tag:会議 path:2025/ 予算", TypedQuery("予算", tags=("会議",), path="2025/")),
        ('path:"my notes/" 予算', TypedQuery("予算", path="my notes/")),
        ("tag:会議", TypedQuery("", tags=("会議",))),
    ],
)
def test_signs_state_what_must_and_what_must_not_be_there(text, stated):
    assert typed_query(text) == stated


@each(
    "text",
    [
        "「水」の備蓄", "git commit --amend", "5 -3 はいくつ", "foo-bar", '3"ディスク', '"食費',
        '""', "-食費", "e-mail: -", "http://a.example/-x",
    ],
)  # fmt: skip
def test_other_signs_are_text(text):
    assert typed_query(text) == TypedQuery(text)


@each(
    ("text", "is_code"),
    [
        ("ls -la", True), ("git commit --amend", True), ('{"a": "b"}', True),
        ('grep "a b" file', True), ('print("x")', True), ("Error\n  at -foo", True),
        ("Jenkins -Kubernetes", False), ('"git worktree" の使い方', False), ("食費 -外食", False),
        ("tag:work budget", False),
    ],
)  # fmt: skip
def test_a_command_or_code_is_no_typed_query(text, is_code):
    assert looks_like_code(text) is is_code


@each(
    ("text", "unread"),
    [
        ("kubernetes ingress -nginx", "-nginx"), ('{"a": "b"}', '"a", "b"'), ("-食費", "-食費"),
        ("Jenkins -Kubernetes", None), ("git commit --amend", None), ("tag:会議", None),
    ],
)  # fmt: skip
def test_a_sign_that_is_not_read_as_one_is_said(text, unread):
    notes = signs_read_as_text(text, is_code=looks_like_code(text))
    assert [note.partition(": ")[2].partition(";")[0] for note in notes] == (
        [unread] if unread else []
    )
