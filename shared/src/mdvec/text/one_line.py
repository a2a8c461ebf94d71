"""File names and headings on one line, safe to show on a terminal or to a model."""


def on_one_line(text: str) -> str:
    """``text`` with white space collapsed and control characters escaped.

    A file name may contain line breaks and terminal codes; shown raw, it could pass for output.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in " ".join(text.split())
    )
