"""Converters of other formats to Markdown: one module per format, run in a child process."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
