"""The tools that answer SQL over the user's tables."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
