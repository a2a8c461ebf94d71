"""Files that are not text, as Markdown: one module a format, run in a process of their own."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
