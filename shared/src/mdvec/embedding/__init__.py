"""Embedding models: one ``Embedder`` over all backends, and the catalogue of models."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
