"""Chunks a document for the index; one without a body gets a chunk too."""

from __future__ import annotations

from dataclasses import replace

from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import Outline
from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import Tokenizer, is_blank

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
