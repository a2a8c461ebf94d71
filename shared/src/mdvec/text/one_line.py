"""Puts text on one line, safe to show on a terminal or to a model."""

_MAX_SHORTENED = 60


def on_one_line(text: str) -> str:
    """``text`` with white space collapsed and control characters escaped.

    A file name may contain line breaks and terminal codes; shown raw, it could imitate output.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in " ".join(text.split())
    )


def shortened(text: str) -> str:
    """The beginning of ``text`` on one line, to quote in a message."""
    line = "".join(char if char.isprintable() else " " for char in text[:_MAX_SHORTENED])
    return line if len(text) <= _MAX_SHORTENED else line + "…"
