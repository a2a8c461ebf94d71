"""What is embedded for a chunk: its text, with the title and the headings it stands under."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.text.chunking import Chunk
from mdvec.text.tokens import Ruler

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


def texts_to_embed(
    title: str, chunks: Sequence[Chunk], ruler: Ruler, *, context: bool
) -> list[str]:
    """What is embedded for each chunk; one that has no room for its context goes without."""
    if not context:
        return [chunk.text for chunk in chunks]
    texts = [in_context(title, chunk.heading, chunk.text) for chunk in chunks]
    return [
        chunk.text if ruler.oversized(text) else text
        for chunk, text in zip(chunks, texts, strict=True)
    ]
