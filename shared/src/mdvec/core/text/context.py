"""What is embedded for a chunk: its text, with the title and the headings it stands under."""

from __future__ import annotations

_LONGEST_CONTEXT = 200


def in_context(title: str, heading: str, text: str) -> str:
    """The text with ``title > headings`` on a line in front, as far as it does not say so itself.

    A chunk that begins with its own heading has that in its text already; what stands above it is
    still missing there. Of a context over 200 characters the innermost headings are kept.
    """
    path = [title, *heading.split(" > ")] if heading else [title]
    if len(path) > 1 and path[0] == path[1]:
        del path[0]
    first_line = text.lstrip().partition("\n")[0].lstrip("# \t")
    if first_line.startswith(path[-1]):
        del path[-1]
    context = " > ".join(step for step in path if step)[-_LONGEST_CONTEXT:]
    return f"{context}\n{text}" if context else text
