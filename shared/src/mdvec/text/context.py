"""The text embedded for a chunk: its title and headings, then its own text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import Outline
from mdvec.text.options import ChunkingOptions
from mdvec.text.readable import readable_chunk
from mdvec.text.tokens import Tokenizer, is_blank

_MAX_CONTEXT = 200


def in_context(title: str, heading: str, text: str) -> str:
    """``text`` preceded by a line with ``title > headings``.

    A heading that begins the text is not repeated. The line keeps its last 200 characters, that
    is, the innermost headings.
    """
    path = [title, *heading.split(" > ")] if heading else [title]
    if len(path) > 1 and path[0] == path[1]:
        del path[0]
    first_line = text.lstrip().partition("\n")[0].lstrip("# \t")
    if first_line.startswith(path[-1]):
        del path[-1]
    context = " > ".join(step for step in path if step)[-_MAX_CONTEXT:]
    return f"{context}\n{text}" if context else text


def text_to_embed(file_path: str, title: str, heading: str, text: str) -> str:
    """The text to embed for a chunk of a file: as a reader sees it, in its context."""
    return in_context(
        *(part and readable_chunk(file_path, part) for part in (title, heading, text))
    )


def texts_to_embed(
    file_path: str,
    title: str,
    chunks: Sequence[Chunk],
    tokenizer: Tokenizer,
) -> list[str]:
    """The text to embed for each chunk; the bare chunk if the rest exceeds the model's limit."""
    texts = [text_to_embed(file_path, title, chunk.heading, chunk.text) for chunk in chunks]
    return [
        chunk.text if tokenizer.oversized(text) else text
        for chunk, text in zip(chunks, texts, strict=True)
    ]


_NO_TEXT = Chunk(index=0, start=0, end=0, start_line=1, end_line=1, heading="", text="")


def searchable_chunks(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Chunk]:
    """The chunks of a document; at least one, so that searches can find its title and names.

    If the body is blank, the chunks contain the front matter; an empty file has one empty chunk.
    """
    if not is_blank(content[outline.body :]):
        return chunk_document(content, outline, options, tokenizer)
    whole = replace(outline, body=0, headings=(), is_markdown=False)
    return chunk_document(content, whole, options, tokenizer) or [_NO_TEXT]
