"""Searches the documents of one or several tools."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
