"""Each error that a command, or a server at its start, shows has its Japanese form."""

import ast
import re
from itertools import chain
from pathlib import Path

import mdvec
from mdvec.japanese import in_japanese, known_sentences

ROOT = Path(mdvec.__file__).parents[3]
PLACE = re.compile(r"\{\w+\}")
KANA = re.compile(r"[ぁ-んァ-ヶ]")
ENGLISH = re.compile(r"\b[a-z]+ [a-z]+ [a-z]+ [a-z]+\b")
AROUND_USAGE = re.compile(r"Invalid value for [^:]+: (.+); see: \{command\} --help")
USAGE = [match[1] for match in map(AROUND_USAGE.match, dict(known_sentences()["usage"])) if match]
SENTENCES = [english for group in known_sentences().values() for english, _ in group]
TABLE = "\n".join(PLACE.sub("3", english) for english in [*SENTENCES, *USAGE])
# mdvec.analysis is for notebooks, in English; of it only exports.py serves commands, too.
NEVER_SHOWN = (
    *(f"analysis/{name}.py" for name in ("charts", "guard", "loading", "tables")),
    "mdvec_mcp/analytics/query_tool.py",  # a model reads it
)


def words_of(node):
    """A message as it is in the source; each value within it is a None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for part in node.values if isinstance(node, ast.JoinedStr) else ():
        if isinstance(part, ast.Constant):
            yield part.value
        elif isinstance(part, ast.FormattedValue):
            yield from ["'", None, "'"] if part.conversion == ord("r") else [None]


def own_errors(nodes):
    """The names of classes of errors, as `MdvecError` and those below it."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    names = {"MdvecError", "Exception", "ValueError", "BadParameter"}
    before: set[str] = set()
    while names != before:
        before = set(names)
        names |= {at.name for at in classes if {ast.unparse(base) for base in at.bases} & before}
    return names - {"Exception", "ValueError"}


def messages():
    """Where an error is made with a message of words, and that message."""
    files = ROOT.glob("*/src/**/*.py")
    kept = [file for file in files if not file.as_posix().endswith(NEVER_SHOWN)]
    walked = {file: list(ast.walk(ast.parse(file.read_text(encoding="utf-8")))) for file in kept}
    errors = own_errors(chain.from_iterable(walked.values()))
    for file, nodes in walked.items():
        for node in nodes:
            owner = isinstance(node, ast.ClassDef) and node.name in errors and node
            for call in ast.walk(owner) if owner else [node]:
                if not (isinstance(call, ast.Call) and call.args):
                    continue
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if ast.unparse(call.func) == "super().__init__" if owner else name in errors:
                    words = list(words_of(call.args[0]))
                    text = "".join(filter(None, words))
                    if " " in text.strip() and not KANA.search(text):
                        yield f"{file.relative_to(ROOT)}:{call.lineno}", words


def is_in_the_table(words):
    """Whether a form of the table fits the message, or the message fits more than one form."""
    said = "".join("3" if word is None else word for word in words)
    pattern = "".join(".+?" if word is None else re.escape(word) for word in words)
    japanese = in_japanese(said)
    if japanese != said:  # else a shorter form has taken what is in no place
        return not ENGLISH.search(japanese.partition("mdvec ")[0])
    in_usage = any(re.fullmatch(re.sub(r"\\{\w+\\}", ".+", re.escape(at)), said) for at in USAGE)
    return in_usage or re.search(f"(?m)^{pattern}$", TABLE)


def test_each_error_that_a_command_can_show_has_a_japanese_form():
    lacking = [(place, words) for place, words in messages() if not is_in_the_table(words)]
    assert not lacking, "not in japanese.toml:\n" + "\n".join(
        f"{at}: {''.join(w or '{}' for w in words)}" for at, words in lacking
    )
