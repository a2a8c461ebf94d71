"""Embedding backends: one module per model, and shared code."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
