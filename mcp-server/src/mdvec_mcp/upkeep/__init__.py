"""The tools that bring the index up to date, and tell how fresh it is."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
