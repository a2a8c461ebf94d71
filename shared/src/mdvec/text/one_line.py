"""Names and headings on one line, as a terminal or a model may be shown them."""


def on_one_line(text: str) -> str:
    """``text`` with runs of white space as one space, and control characters written out.

    A file's name may hold line breaks and terminal codes; shown raw, it could pass for output.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in " ".join(text.split())
    )
