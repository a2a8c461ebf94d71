"""Text: Markdown structure, chunks and their positions, the terms of a search."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
