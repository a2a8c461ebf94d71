"""The end of a log, as the local page shows it."""

from hypothesis import given
from hypothesis import strategies as st

from mdvec.log import opening
from mdvec.log.opening import last_lines, secrets_in


def test_the_end_of_a_long_log_is_read_in_whole_lines(tmp_path):
    file = tmp_path / "log"
    file.write_text("".join(f"{number} {'x' * 90}\n" for number in range(5_000)))
    found = last_lines(file)
    assert [line.split()[0] for line in found] == [str(n) for n in range(4_800, 5_000)]
    file.write_text("first\n" + "y" * 300_000)
    assert last_lines(file) == ()  # one line, whose beginning was not read


def test_secrets_are_hidden_and_long_lines_cut(tmp_path):
    file = tmp_path / "log"
    file.write_bytes(b"key sk-123456 and hunter\xff\n" + b"z" * 501)
    secrets = secrets_in({"OPENAI_API_KEY": "sk-123456", "HOME": "and", "A_TOKEN": "z"})
    assert secrets == ["sk-123456", "z"]  # too short a value would hide ordinary text
    assert last_lines(file, secrets) == ("key [secret] and hunter\ufffd", "z" * 500 + "…")


@given(st.binary(max_size=400))
def test_any_bytes_become_lines(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.log"
    file.write_bytes(content)
    lines = last_lines(file)
    assert len(lines) <= opening.MAX_LINES
    assert all("\n" not in line for line in lines)
