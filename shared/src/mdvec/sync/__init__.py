"""Keeps indexes fresh: checks sources, and imports changes in separate processes."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
