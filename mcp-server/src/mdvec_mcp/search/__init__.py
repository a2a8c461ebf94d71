"""Search tools: one per collection, one across all collections, and one that reads documents."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
