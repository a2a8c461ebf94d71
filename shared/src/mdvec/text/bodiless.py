"""The chunks of a document, even of one without a body, so that its title and names find it."""

from __future__ import annotations

from dataclasses import replace

from mdvec.text.chunking import Chunk, chunk_document
from mdvec.text.markdown import Outline
from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import Tokenizer, is_blank

_NO_TEXT = Chunk(index=0, start=0, end=0, start_line=1, end_line=1, heading="", text="")


def chunks_of(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Chunk]:
    """The chunks of a document.

    Without a body they are its front matter; of an empty file there is one without text.
    """
    if not is_blank(content[outline.body :]):
        return chunk_document(content, outline, options, tokenizer)
    whole = replace(outline, body=0, headings=(), is_markdown=False)
    return chunk_document(content, whole, options, tokenizer) or [_NO_TEXT]
