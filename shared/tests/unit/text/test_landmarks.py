"""Headings of text that is not Markdown: definitions in code, sections of other markup."""

from table_of_cases import each

from mdvec.text.markdown import landmarks, outline

PYTHON = """import x

@cached
# why
class A(B):
    def f(self):
        if x:
            return 1

async def g(): pass
"""


@each(
    ("name", "text", "found"),
    [
        ("a.py", PYTHON, [(1, "class A(B)"), (2, "def f(self)"), (1, "async def g(): pass")]),
        ("a.ts", "export const f = (a) => {\n}\nexport class Foo {\n  if (x) {}\n}\n",
         [(1, "export const f = (a) =>"), (1, "export class Foo")]),
        (
            "a.yaml",
            'name: x\ndb:\n  hosts:\n  - a:\n# note:\n"on":\n  push: 1\n',
            [(1, "db"), (1, '"on"')],
        ),
        (
            "a.toml",
            'n = 1\r\n[db]\r\nhosts = ["a"]\r\n[[db.pool]] # two\r\nsize = 1\r\n',
            [(1, "[db]"), (1, "[[db.pool]] # two")],
        ),
        ("a.go", "// Run\nfunc (s *S) Run() error {\n}\n", [(1, "func (s *S) Run() error")]),
        ("a.rs", "impl Foo for Bar {\n    fn y(&self) {\n",
         [(1, "impl Foo for Bar"), (2, "fn y(&self)")]),
        ("A.java", "public class A {\n  private int f(int x) {\n    return g(x);\n",
         [(1, "public class A"), (2, "private int f(int x)")]),
        ("a.c", "static int f(int a)\n{\n  if (a) g(a);\n}\nint g(int);\n",
         [(1, "static int f(int a)")]),
        ("a.sh", "f() {\n}\n", [(1, "f()")]),
        ("a.sql", "create table x (a int);\nselect 1;\n", [(1, "create table x (a int);")]),
        ("a.org", "* 一\n本文\n** 二\n", [(1, "一"), (2, "二")]),
        ("a.rst", "題\n===\n\n節\n---\n\n章\n===\n", [(1, "題"), (2, "節"), (1, "章")]),
        ("a.rst", "題\r\n==\r\n\r\n節\r\n----\r\n文\r\n", [(1, "題"), (2, "節")]),
        ("a.rst", "====\n 題\n====\n\n節\n====\n\nA\n.\n\nB\n````\n\nC\n%%%%\n",
         [(1, "題"), (2, "節"), (3, "A"), (4, "B"), (5, "C")]),
        ("a.rst", "文が続き、\n題\n----\n\nlong\n---\n\n  題\n----\n\n== ==\n一  二\n== ==\n", []),
        ("a.rst", ".. _a:\n題\n==\n節\n--\n.. note::\n   文\n節\n--\n",
         [(1, "題"), (2, "節"), (2, "節")]),
        ("a.adoc", "= 題\n\n== 節\n", [(1, "題"), (2, "節")]),
        ("a.adoc", "git-add(1)\r\n==========\r\n\r\n[[n]]\r\n名前\r\n----\r\n文\r\n\r\nA\r\n~\r\n",
         [(1, "git-add(1)"), (2, "名前"), (3, "A")]),
        ("a.adoc", "----\n= a\n\n例題\n----\n題\n==\n文\n命令の例\n----\n== a\n----\n== 節\n",
         [(1, "題"), (2, "節")]),
        ("a.adoc", ".図の名前\n....\n== a\n....\n\n....\n== 節\n", [(2, "節")]),
        ("a.tex", "\\section{序論}\n\\subsection*{背景}\n", [(1, "序論"), (2, "背景")]),
        ("a.txt", "* 一\n", []),
    ],
)  # fmt: skip
def test_headings_by_the_ending(name, text, found):
    assert [(level, words) for level, words, _ in landmarks(text, name)] == found


def test_comments_and_decorators_above_a_definition_belong_to_it():
    first = outline(PYTHON, "a.py").headings[0]
    assert PYTHON[first.start :].startswith("@cached\n# why\nclass A")


@each(
    ("name", "text", "title"),
    [
        ("index.rst", "入門\n====\n\n最初\n----\n", "入門"),
        ("index.rst", "本文だけ。\n", "index"),
        ("index.rst", "題\n..\n\n節\n----\n", "題"),
        ("a.adoc", "----\n= code\n----\n= 題\n", "題"),
        ("a.adoc", "= 手引き\n\n== 節\n", "手引き"),
        ("a.org", "* 一\n* 二\n", "a"),
        ("a.py", PYTHON, "a"),
    ],
)
def test_the_first_heading_is_the_title_where_the_format_has_it_there(name, text, title):
    assert outline(text, name).title == title
