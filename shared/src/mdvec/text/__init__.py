"""Text: Markdown structure, chunks and their positions, the terms of a search."""
