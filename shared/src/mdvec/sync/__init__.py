"""Keeps indexes fresh: checks sources, and imports changes in processes of their own."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
