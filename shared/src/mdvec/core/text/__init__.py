"""Text: Markdown structure, chunks and their positions."""
